import { buildInvoice as build, type InvoiceInput } from '../../domain/invoicing/build-invoice.ts';
import type { InvoiceRow } from '../../domain/invoicing/invoice-row.ts';
import { EMPTY_LEDGER } from '../../domain/invoicing/payment-ledger.ts';

type Named = 'currency' | 'invoice_status' | 'lines';

/** `buildInvoice` for tests that are about some of its parts: the others are empty. */
export const buildInvoice = <Line extends InvoiceRow>(
  input: Pick<InvoiceInput<Line>, Named> & Partial<InvoiceInput<Line>>,
) =>
  build({
    coupons: [],
    taxes: { rates: [], exemption: null },
    wallets: [],
    ledger: EMPTY_LEDGER,
    ...input,
  });
