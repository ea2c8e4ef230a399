import { answerOf, api } from '../../client/api.ts';
import { useNames } from '../names.tsx';

/** The numbers of the invoices of a list, by id; a draft has none. */
export const useInvoiceNumbers = (ids: readonly string[]): ReadonlyMap<string, string> =>
  useNames('invoice:read', ids, async (invoice_ids, signal) => {
    const body = { invoice_ids: [...invoice_ids], limit: invoice_ids.length };
    const { items } = await answerOf(api.POST('/invoices/search', { body, signal }));
    return new Map(items.map(({ id, invoice_number }) => [id, invoice_number ?? 'Draft']));
  });
