import { Badge } from '../../ui/badge.tsx';
import { paymentStateOf, type PayableInvoice } from './payment-state.ts';

/**
 * How far an invoice is paid at that time, which is the time of its customer. A dash before it is issued, and while the
 * time is read (undefined).
 */
export function PaymentBadge({
  invoice,
  at,
}: {
  readonly invoice: PayableInvoice;
  readonly at: string | undefined;
}) {
  const state = at === undefined ? null : paymentStateOf(invoice, Date.parse(at));
  return state === null ? <>–</> : <Badge tone={state[1]}>{state[0]}</Badge>;
}
