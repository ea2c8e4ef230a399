import { CodeBlock } from '../ui/code-block.tsx';

/** The first event of an environment, as a command that can be pasted. */
export function FirstEvent() {
  const text = `curl -X POST ${location.origin}/v1/events \\
  -H 'x-api-key: YOUR_API_KEY' -H 'content-type: application/json' \\
  -d '{"event_id":"first-event","event_name":"api.call","external_customer_id":"acme","properties":{"tokens":42}}'`;
  return (
    <>
      <p>Send one with an API key of this environment:</p>
      <CodeBlock label="Command" text={text} />
    </>
  );
}
