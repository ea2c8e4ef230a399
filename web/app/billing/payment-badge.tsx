import { Badge } from '../../ui/badge.tsx';
import { paymentStateOf, type PayableInvoice } from './payment-state.ts';

/** How far an invoice is paid. */
export function PaymentBadge({ invoice }: { readonly invoice: PayableInvoice }) {
  const state = paymentStateOf(invoice, Date.now());
  return state === null ? <>–</> : <Badge tone={state[1]}>{state[0]}</Badge>;
}
