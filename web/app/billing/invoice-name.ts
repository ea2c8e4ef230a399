import type { ApiRecord } from '../../client/api.ts';
import { formatWord } from '../../ui/text.ts';

type Invoice = Pick<ApiRecord<'Invoice'>, 'invoice_number' | 'invoice_status'>;

/** The number of an invoice, or its status: a draft and a skipped invoice have no number. */
export const invoiceName = ({ invoice_number, invoice_status }: Invoice): string =>
  invoice_number ?? formatWord(invoice_status);
