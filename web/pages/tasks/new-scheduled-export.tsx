import { useQuery } from '@tanstack/react-query';
import { ConnectBucket } from '../../app/connect-bucket.tsx';
import { useMay } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { ScheduledExportForm } from './scheduled-export-form.tsx';

const BUCKETS_SHOWN = 200;

/** The form of a new scheduled export; before there is a bucket, the form that connects one. */
export function NewScheduledExport() {
  const mayConnect = useMay('connection:write');
  const buckets = useQuery({
    queryKey: ['connections', 's3'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/connections/search', {
          body: { provider_type: 's3', limit: BUCKETS_SHOWN },
          signal,
        }),
      ),
  });
  return (
    <Loaded query={buckets} what="buckets">
      {({ connections }) => {
        if (connections.length > 0)
          return (
            <ScheduledExportForm buckets={connections.map(({ id, name }) => [id, name] as const)} />
          );
        if (!mayConnect)
          return (
            <EmptyState title="No bucket is connected">
              Ask a person who may change connections to connect one.
            </EmptyState>
          );
        return (
          <Stack>
            <p>Connect the bucket first. Files are written with the keys that you give here.</p>
            <ConnectBucket onDone={() => undefined} />
          </Stack>
        );
      }}
    </Loaded>
  );
}
