import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { WithBuckets } from '../../app/exports/buckets.tsx';
import {
  ExportTerms,
  ExportTermsFields,
  termsOf,
  termsSent,
} from '../../app/exports/export-terms.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

/**
 * Other terms for an export. The API has no change of terms: another export takes the place of this one. It is
 * created off, this one is deleted, then it is turned on. So no window is written twice, whatever fails.
 */
export function EditForm({
  task,
  onDone,
}: {
  readonly task: ApiRecord<'ScheduledTask'>;
  readonly onDone: () => void;
}) {
  return (
    <WithBuckets>
      {(buckets) => <Terms task={task} buckets={buckets} onDone={onDone} />}
    </WithBuckets>
  );
}

function Terms({
  task,
  buckets,
  onDone,
}: {
  readonly task: ApiRecord<'ScheduledTask'>;
  readonly buckets: readonly (readonly [string, string])[];
  readonly onDone: () => void;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(ExportTerms, termsOf(task));
  return (
    <Form
      form={form}
      submit="Save scheduled export"
      onSubmit={async (terms) => {
        const body = { ...termsSent(terms), enabled: false };
        const { id } = await answerOf(api.POST('/tasks/scheduled', { body }));
        await answerOf(api.DELETE('/tasks/scheduled/{id}', { params: { path: { id: task.id } } }));
        if (terms.enabled)
          await answerOf(
            api.PUT('/tasks/scheduled/{id}', {
              params: { path: { id } },
              body: { enabled: true },
            }),
          );
        notify('Scheduled export saved');
        onDone();
        await navigate({ to: `/scheduled-exports/${id}` });
        void queries.invalidateQueries({ queryKey: ['scheduled-tasks'] });
      }}
    >
      <ExportTermsFields control={form.control} buckets={buckets} />
      <p>
        The changed export gets another id. Its first run exports the window that is running now;
        “Run now” exports the one before. Runs until now stay on the page of the replaced export.
      </p>
    </Form>
  );
}
