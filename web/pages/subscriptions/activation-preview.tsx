import { useQuery } from '@tanstack/react-query';
import { StartPreview } from '../../app/billing/start-preview.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';

/** The first invoices of a draft that is started now, on the day that it names. */
export function ActivationPreview({
  subscription: { id, start_date },
}: {
  readonly subscription: ApiRecord<'Subscription'>;
}) {
  const query = useQuery({
    queryKey: ['activation-preview', id],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/subscriptions/{id}/activate/preview', {
          params: { path: { id } },
          body: { start_date },
          signal,
        }),
      ),
  });
  return (
    <Loaded query={query} what="the preview of the invoices">
      {(preview) => (
        <Stack>
          <StartPreview preview={preview} />
        </Stack>
      )}
    </Loaded>
  );
}
