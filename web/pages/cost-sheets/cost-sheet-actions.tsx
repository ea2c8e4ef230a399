import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { TermsForm } from '../../app/offer/terms-form.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/toasts.tsx';

/** What is done with a cost sheet as a whole. */
export function CostSheetActions({ sheet }: { readonly sheet: ApiRecord<'Costsheet'> }) {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: sheet.id } } };
  return (
    <Allowed to="costsheet:write">
      <Button onPress={() => setOpen('edit')}>Edit</Button>
      <Button tone="danger" onPress={() => setOpen('delete')}>
        Delete
      </Button>
      <Dialog title="Edit cost sheet" isOpen={open === 'edit'} onClose={close}>
        <TermsForm
          stored={sheet}
          exampleKey="costs-2027"
          submit="Save cost sheet"
          onSubmit={async (body) => {
            await answerOf(api.PUT('/costs/{id}', { ...path, body }));
            await queries.invalidateQueries();
            notify('Cost sheet saved');
            close();
          }}
        />
      </Dialog>
      <ConfirmDialog
        title="Delete this cost sheet?"
        confirm="Delete cost sheet"
        tone="danger"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/costs/{id}', path));
          notify('Cost sheet deleted');
          await navigate({ to: '/cost-sheets' });
          void queries.invalidateQueries();
        }}
      >
        <p>
          The margin is computed by the newest sheet that is left, also for days that have passed.
          The deleted sheet can still be read.
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}
