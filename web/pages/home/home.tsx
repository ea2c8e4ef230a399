import { useSignedIn } from '../../app/person.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Page, Section } from '../../ui/page.tsx';

/** The first event of a new environment, as a command that can be pasted. */
const firstEvent = (): string =>
  `curl -X POST ${location.origin}/v1/events \\
  -H 'x-api-key: YOUR_API_KEY' -H 'content-type: application/json' \\
  -d '{"event_id":"first-event","event_name":"api.call","external_customer_id":"acme","properties":{"tokens":42}}'`;

export function View() {
  const { person, environment } = useSignedIn();
  return (
    <Page title="Home" description={`${person.tenant.name}, ${environment.name}`}>
      <Section title="Send an event">
        <CodeBlock label="Command" text={firstEvent()} />
      </Section>
    </Page>
  );
}
