import { answerOf, api } from '../../client/api.ts';
import { useNames } from '../names.tsx';
import { invoiceName } from './invoice-name.ts';

/** What the invoices of a list are called, by id. */
export const useInvoiceNumbers = (ids: readonly string[]): ReadonlyMap<string, string> =>
  useNames('invoice:read', ids, async (invoice_ids, signal) => {
    const body = { invoice_ids: [...invoice_ids], limit: invoice_ids.length };
    const { items } = await answerOf(api.POST('/invoices/search', { body, signal }));
    return new Map(items.map((invoice) => [invoice.id, invoiceName(invoice)]));
  });
