import type { ApiRecord } from '../../client/api.ts';
import { useCustomerTime } from '../customer-time.ts';
import { PaymentBadge } from './payment-badge.tsx';

/** How far an invoice is paid now, by the time of its customer. For pages of the console. */
export function InvoicePayment({ invoice }: { readonly invoice: ApiRecord<'Invoice'> }) {
  const at = useCustomerTime(invoice.customer ?? null);
  return <PaymentBadge invoice={invoice} at={at} />;
}
