import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { placeOf } from '../../app/exports/export-words.ts';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { EditForm } from './edit-form.tsx';
import { RunForm } from './run-form.tsx';

/** Runs it now, changes it, turns it off and on, deletes it. */
export function ExportActions({ task }: { readonly task: ApiRecord<'ScheduledTask'> }) {
  const [open, setOpen] = useState<'run' | 'edit' | 'delete' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const params = { path: { id: task.id } };
  const refresh = () => queries.invalidateQueries({ queryKey: ['scheduled-tasks'] });
  const turn = useMutation({
    mutationFn: () =>
      answerOf(api.PUT('/tasks/scheduled/{id}', { params, body: { enabled: !task.enabled } })),
    onSuccess: refresh,
  });
  const close = (): void => setOpen(null);
  return (
    <Allowed to="task:write">
      {turn.error === null ? null : <Failure error={turn.error} />}
      <Button onPress={() => setOpen('edit')}>Edit</Button>
      <Button isDisabled={turn.isPending} onPress={() => turn.mutate()}>
        {task.enabled ? 'Turn off' : 'Turn on'}
      </Button>
      <Button tone="danger" onPress={() => setOpen('delete')}>
        Delete
      </Button>
      <Button tone="primary" onPress={() => setOpen('run')}>
        Run now
      </Button>
      <Dialog title="Run now" isOpen={open === 'run'} onClose={close}>
        <RunForm taskId={task.id} onDone={close} />
      </Dialog>
      <Dialog title="Edit scheduled export" isOpen={open === 'edit'} onClose={close}>
        <EditForm task={task} onDone={close} />
      </Dialog>
      <ConfirmDialog
        title="Delete this scheduled export?"
        confirm="Delete scheduled export"
        tone="danger"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/tasks/scheduled/{id}', { params }));
          notify('Scheduled export deleted');
          await navigate({ to: '/tasks' });
          void refresh();
        }}
      >
        <p>
          Nothing more is written to <bdi>{placeOf(task)}</bdi>. Files that are there stay.
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}
