import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import type { ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/toasts.tsx';
import { CreditNoteForm } from './credit-note-form.tsx';

type Invoice = ApiRecord<'Invoice'>;

/** A refunded invoice has nothing left that could be credited (money 10.2). */
const CREDITABLE = new Set<Invoice['payment_status']>([
  'SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'PENDING', 'INITIATED', 'PROCESSING', 'FAILED',
]); // prettier-ignore

/** Issues a credit note on an invoice that can have one; otherwise nothing. */
export function CreditNoteButton({
  invoice,
  label,
}: {
  readonly invoice: Invoice;
  readonly label: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  if (invoice.invoice_status !== 'FINALIZED' || !CREDITABLE.has(invoice.payment_status))
    return null;
  return (
    <Allowed to="creditnote:write">
      <Button onPress={() => setOpen(true)}>{label}</Button>
      <Dialog title="Credit note" isOpen={isOpen} onClose={() => setOpen(false)} isWide>
        <CreditNoteForm
          invoice={invoice}
          onDone={async () => {
            notify('Credit note issued');
            await queries.invalidateQueries();
            setOpen(false);
          }}
        />
      </Dialog>
    </Allowed>
  );
}
