import { isZero } from '../app/billing/zero.ts';
import { Dialog } from '../ui/dialog.tsx';
import { PayInvoice } from './pay-invoice.tsx';
import type { Invoice } from './queries.ts';

export const isPayable = ({ invoice_status, amount_remaining }: Invoice): boolean =>
  invoice_status === 'FINALIZED' && !isZero(amount_remaining);

/** The payment of an invoice; closed without one. */
export function PaymentDialog({
  invoice,
  onClose,
}: {
  readonly invoice: Invoice | null;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={`Pay invoice ${invoice?.invoice_number ?? ''}`}
      isOpen={invoice !== null}
      onClose={onClose}
    >
      {invoice === null ? null : <PayInvoice invoice={invoice} onDone={onClose} />}
    </Dialog>
  );
}
