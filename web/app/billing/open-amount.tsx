import { Money } from '../../ui/money.tsx';
import { isOwed, type OwedInvoice } from './payment-state.ts';

type Invoice = OwedInvoice & {
  readonly amount_remaining: string;
  readonly currency: string;
};

/** What is still to be paid of an invoice. */
export function OpenAmount({ invoice }: { readonly invoice: Invoice }) {
  if (!isOwed(invoice)) return <>–</>;
  return <Money amount={invoice.amount_remaining} currency={invoice.currency} />;
}
