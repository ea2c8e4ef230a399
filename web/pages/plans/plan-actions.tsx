import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { offerOf } from '../../app/offer/offer.ts';
import { AddPrice } from '../../app/offer/prices.tsx';
import { Allowed } from '../../app/person.tsx';
import { TermsForm } from '../../app/offer/terms-form.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/toasts.tsx';

/** What is done with a plan as a whole. An archived one stays as it is. */
export function PlanActions({ plan }: { readonly plan: ApiRecord<'Plan'> }) {
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: plan.id } } };
  if (plan.status !== 'published') return null;
  return (
    <>
      <Allowed to="plan:write">
        <Button onPress={() => setOpen('edit')}>Edit</Button>
        <Button tone="danger" onPress={() => setOpen('archive')}>
          Archive
        </Button>
      </Allowed>
      <AddPrice offer={offerOf('plan', plan)} />
      <Dialog title="Edit plan" isOpen={open === 'edit'} onClose={close}>
        <TermsForm
          stored={plan}
          exampleKey="pro-2026"
          submit="Save plan"
          onSubmit={async (body) => {
            await answerOf(api.PUT('/plans/{id}', { ...path, body }));
            await queries.invalidateQueries();
            notify('Plan saved');
            close();
          }}
        />
      </Dialog>
      <ConfirmDialog
        title="Archive this plan?"
        confirm="Archive plan"
        tone="danger"
        isOpen={open === 'archive'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/plans/{id}', path));
          notify('Plan archived');
          await queries.invalidateQueries();
          await navigate({ to: '/plans' });
        }}
      >
        <p>
          It is not sold to new subscriptions any more. While a running subscription has it, it
          cannot be archived: change or cancel that subscription first.
        </p>
      </ConfirmDialog>
    </>
  );
}
