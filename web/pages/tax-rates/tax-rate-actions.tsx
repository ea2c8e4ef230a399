import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/toasts.tsx';
import { TaxRateForm } from './tax-rate-form.tsx';

/** Changes or archives a tax rate. An archived one stays as it is. */
export function TaxRateActions({ rate }: { readonly rate: ApiRecord<'TaxRate'> }) {
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: rate.id } } };
  if (rate.status !== 'published') return null;
  return (
    <Allowed to="tax:write">
      <Button onPress={() => setOpen('edit')}>Edit</Button>
      <Button tone="danger" onPress={() => setOpen('archive')}>
        Archive
      </Button>
      <Dialog title="Edit tax rate" isOpen={open === 'edit'} onClose={close}>
        <p>A rate stays as it is while it is assigned. Its percentage never changes.</p>
        <TaxRateForm
          rate={rate}
          submit="Save tax rate"
          onSubmit={async (body) => {
            await answerOf(api.PUT('/taxes/rates/{id}', { ...path, body }));
            await queries.invalidateQueries();
            notify('Tax rate saved');
            close();
          }}
        />
      </Dialog>
      <ConfirmDialog
        title="Archive this tax rate?"
        confirm="Archive tax rate"
        tone="danger"
        isOpen={open === 'archive'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/taxes/rates/{id}', path));
          notify('Tax rate archived');
          await queries.invalidateQueries();
          await navigate({ to: '/tax-rates' });
        }}
      >
        <p>
          It cannot be assigned any more. While it is assigned, it cannot be archived: remove it
          there first.
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}
