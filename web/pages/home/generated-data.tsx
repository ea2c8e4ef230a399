import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { Section, Stack } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Failure } from '../../ui/query-state.tsx';

const POLL_MS = 1_000;
/** Enough for every chart; a tenth of the default of the service. */
const EVENTS = 100_000;

/**
 * For an empty environment that is not production: a company of generated data, made in the background. Nothing
 * is shown once the environment has records of its own.
 */
export function GeneratedData() {
  const { person, environment } = useSignedIn();
  const { id } = environment;
  const params = { path: { id } };
  const cache = useQueryClient();
  const key = ['environment-seed', id];
  const isOffered = environment.type !== 'production' && person.roles.includes('super_admin');
  const { data } = useQuery({
    queryKey: key,
    enabled: isOffered,
    queryFn: ({ signal }) => answerOf(api.GET('/environments/{id}/seed', { params, signal })),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? POLL_MS : false),
  });
  const start = useMutation({
    mutationFn: () =>
      answerOf(api.POST('/environments/{id}/seed', { params, body: { events: EVENTS } })),
    onSuccess: (seed) => cache.setQueryData(key, seed),
  });
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && data?.state === 'completed') void cache.invalidateQueries();
    wasRunning.current = data?.state === 'running';
  }, [cache, data?.state]);

  if (!isOffered || data === undefined) return null;
  if (data.state === 'running')
    return (
      <Section title="Sample data">
        <Stack>
          <Progress label="Events" done={data.events_sent} of={data.events} />
          <p role="status">{data.step ?? 'Creating plans and meters'}</p>
        </Stack>
      </Section>
    );
  if (data.state === 'completed' || (!data.is_empty && data.state === 'none')) return null;
  return (
    <Section title="Sample data">
      <Stack>
        {data.state === 'failed' ? (
          <p role="alert">The environment was not filled. {data.error}</p>
        ) : null}
        {data.is_empty ? (
          <>
            <p>
              This environment is empty. Generate a sample company: 3 plans, 50 customers and three
              months of usage, with invoices, payments and wallets.
            </p>
            <div>
              <Button
                tone="primary"
                isDisabled={start.isPending}
                onPress={() => start.mutate(undefined)}
              >
                Generate sample data
              </Button>
            </div>
          </>
        ) : null}
        {start.error === null ? null : <Failure error={start.error} />}
      </Stack>
    </Section>
  );
}
