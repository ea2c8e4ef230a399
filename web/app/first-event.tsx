import { useMutation, useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../client/api.ts';
import { Button } from '../ui/button.tsx';
import { CodeBlock } from '../ui/code-block.tsx';
import { Failure, Loaded } from '../ui/query-state.tsx';
import { countedBy, exampleFor } from './example-event.ts';
import { Allowed, useMay } from './person.tsx';
import { postCommand } from './shell-command.ts';

const EVENT_ID = 'first-event';
const KEY_NAME = 'First event';
const NEWEST = { limit: 1 };

/** What an environment without meters counts nothing of; the event is stored all the same. */
const ANY = { event_name: 'api.call', field: 'tokens', filters: [] };

/**
 * The first event of an environment, as a command that can be pasted. It names the newest meter and customer, so
 * that the event is counted, and contains a key once the person has created one for it.
 */
export function FirstEvent() {
  const mayRead = [useMay('meter:read'), useMay('customer:read')];
  const example = useQuery({
    queryKey: ['first-event', ...mayRead],
    queryFn: async ({ signal }) => {
      const [meters, customers] = await Promise.all([
        mayRead[0] ? answerOf(api.POST('/meters/search', { body: NEWEST, signal })) : null,
        mayRead[1] ? answerOf(api.POST('/customers/search', { body: NEWEST, signal })) : null,
      ]);
      const meter = meters?.items[0];
      return exampleFor(
        meter === undefined ? ANY : countedBy(meter),
        EVENT_ID,
        customers?.items[0]?.external_id,
      );
    },
  });
  const key = useMutation({
    mutationFn: () =>
      answerOf(api.POST('/secrets/api/keys', { body: { name: KEY_NAME, type: 'private_key' } })),
  });
  return (
    <Loaded query={example} what="the command">
      {(event) => (
        <>
          <p>Paste this command into a terminal. The event appears here by itself.</p>
          <CodeBlock
            label="Command"
            text={postCommand('/events', event, key.data?.api_key ?? 'YOUR_API_KEY')}
          />
          {key.data === undefined ? (
            <Allowed to="secret:write">
              <p>
                It needs an API key of this environment.{' '}
                <Button small isDisabled={key.isPending} onPress={() => key.mutate()}>
                  Create a key for it
                </Button>
              </p>
            </Allowed>
          ) : (
            <p role="status">
              The command contains the new API key “{KEY_NAME}”, which is not shown again. You can
              delete it under API keys.
            </p>
          )}
          {key.error === null ? null : <Failure error={key.error} />}
        </>
      )}
    </Loaded>
  );
}
