import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Row } from '../../ui/page.tsx';
import { notify } from '../../ui/toasts.tsx';
import { Allowed } from '../person.tsx';
import { AssociationFields, ChangeableTerms, termsOf } from './association-fields.tsx';

type Association = ApiRecord<'TaxAssociation'>;

/** Changes or removes an assigned tax. */
export function AssociationActions({
  association,
  name,
}: {
  readonly association: Association;
  /** What tells it from the others of the table. */
  readonly name: string;
}) {
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null);
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: association.id } } };
  return (
    <Allowed to="tax:write">
      <Row>
        <Button small aria-label={`Change ${name}`} onPress={() => setOpen('edit')}>
          Change
        </Button>
        <Button small aria-label={`Remove ${name}`} onPress={() => setOpen('remove')}>
          Remove
        </Button>
      </Row>
      <Dialog title={`Change ${name}`} isOpen={open === 'edit'} onClose={close}>
        <ChangeForm association={association} onDone={close} />
      </Dialog>
      <ConfirmDialog
        title={`Remove ${name}?`}
        confirm="Remove tax"
        tone="danger"
        isOpen={open === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/taxes/associations/{id}', path));
          notify('Tax removed');
          // Not awaited: the row and its dialog are gone with the new rows.
          void queries.invalidateQueries();
        }}
      >
        <p>
          Invoices that are computed from now on are without it, that of the running period
          included. Finalized invoices keep it.
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}

function ChangeForm({
  association,
  onDone,
}: {
  readonly association: Association;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(ChangeableTerms, {
    tax_behavior: association.tax_behavior,
    priority: String(association.priority),
    auto_apply: association.auto_apply,
  });
  return (
    <Form
      form={form}
      submit="Save tax"
      onSubmit={async (written) => {
        const params = { path: { id: association.id } };
        await answerOf(api.PUT('/taxes/associations/{id}', { params, body: termsOf(written) }));
        await queries.invalidateQueries();
        notify('Tax saved');
        onDone();
      }}
    >
      <AssociationFields control={form.control} />
      <p>Invoices that are computed from now on have the tax this way.</p>
    </Form>
  );
}
