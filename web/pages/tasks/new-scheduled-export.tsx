import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { ConnectBucket } from '../../app/connect-bucket.tsx';
import { WithBuckets } from '../../app/exports/buckets.tsx';
import {
  ExportTerms,
  ExportTermsFields,
  newTerms,
  termsSent,
} from '../../app/exports/export-terms.tsx';
import { useMay } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';

/** The form of a new scheduled export; before there is a bucket, the form that connects one. */
export function NewScheduledExport() {
  const mayConnect = useMay('connection:write');
  return (
    <WithBuckets>
      {(buckets) => {
        if (buckets.length > 0) return <CreateForm buckets={buckets} />;
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
    </WithBuckets>
  );
}

function CreateForm({ buckets }: { readonly buckets: readonly (readonly [string, string])[] }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(ExportTerms, newTerms(buckets[0]![0]));
  return (
    <Form
      form={form}
      submit="Create scheduled export"
      onSubmit={async (terms) => {
        const { id } = await answerOf(api.POST('/tasks/scheduled', { body: termsSent(terms) }));
        notify('Scheduled export created');
        await queries.invalidateQueries({ queryKey: ['scheduled-tasks'] });
        await navigate({ to: `/scheduled-exports/${id}` });
      }}
    >
      <ExportTermsFields control={form.control} buckets={buckets} />
    </Form>
  );
}
