import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { WithBuckets } from '../../app/exports/buckets.tsx';
import {
  ExportTerms,
  ExportTermsFields,
  termsOf,
  termsSent,
} from '../../app/exports/export-terms.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Refusal } from '../../client/refusal.ts';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

/**
 * Other terms for an export. The API has no change of terms: another export takes the place of this one. It is
 * created off, this one is deleted, then it is turned on. So no window is written twice, whatever fails. After a
 * failure the form says what is saved, and goes on from there when it is saved again.
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
  const progress = useRef<Progress>({ made: null, replaced: [task.id] });
  return (
    <Form
      form={form}
      submit="Save scheduled export"
      onSubmit={async (terms) => {
        const id = await replace(progress.current, terms).catch((error: unknown) => {
          throw withProgress(error, progress.current, task.id);
        });
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

/** How far the saving has come. */
interface Progress {
  /** The export that takes the place of this one, and the terms that it was created with. */
  made: { readonly id: string; readonly terms: string } | null;
  /** Exports that are not deleted yet: this one, and one that was made with terms that were changed again. */
  replaced: readonly string[];
}

/** Does what is left to do, and returns the id of the export that has the terms now. */
async function replace(progress: Progress, terms: ExportTerms): Promise<string> {
  const body = { ...termsSent(terms), enabled: false };
  const asked = JSON.stringify(body);
  if (progress.made?.terms !== asked) {
    const { id } = await answerOf(api.POST('/tasks/scheduled', { body }));
    if (progress.made !== null) progress.replaced = [...progress.replaced, progress.made.id];
    progress.made = { id, terms: asked };
  }
  for (const id of progress.replaced) {
    await deleted(id);
    progress.replaced = progress.replaced.filter((one) => one !== id);
  }
  const { id } = progress.made;
  if (terms.enabled)
    await answerOf(
      api.PUT('/tasks/scheduled/{id}', { params: { path: { id } }, body: { enabled: true } }),
    );
  return id;
}

/** An export that is gone was deleted by a request whose answer was lost. */
async function deleted(id: string): Promise<void> {
  try {
    await answerOf(api.DELETE('/tasks/scheduled/{id}', { params: { path: { id } } }));
  } catch (error) {
    if (!(error instanceof Refusal && error.status === 404)) throw error;
  }
}

/** The failure with what is saved all the same. Nothing is, before the new export is made. */
function withProgress(error: unknown, { made, replaced }: Progress, id: string): unknown {
  if (!(error instanceof Refusal) || made === null) return error;
  const saved = replaced.includes(id)
    ? 'The changed export is saved, but it is off, and the present one is not deleted: it runs as before.'
    : 'The changed export is saved and takes the place of this one, but it is off.';
  return new Refusal(error.status, {
    code: error.code,
    message: `${error.message} ${saved} Save again to do the rest.`,
    details: [...error.details],
    ...(error.requestId === null ? {} : { request_id: error.requestId }),
  });
}
