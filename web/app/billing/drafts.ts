import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { formatWord } from '../../ui/text.ts';
import { useById } from '../names.tsx';

type Payment = Pick<ApiRecord<'Payment'>, 'invoice_number' | 'destination_type' | 'destination_id'>;
export type Drafts = ReadonlyMap<string, ApiRecord<'Invoice'>>;

/** The drafts that the payments are for, by id: they have no number, their periods tell them apart. */
export const useDrafts = (payments: readonly Payment[]): Drafts =>
  useById(
    'drafts',
    'invoice:read',
    payments
      .filter(
        (payment) => payment.destination_type === 'INVOICE' && payment.invoice_number === null,
      )
      .map(({ destination_id }) => destination_id),
    async (invoice_ids, signal) => {
      const body = {
        invoice_ids: [...invoice_ids],
        invoice_status: ['DRAFT' as const],
        limit: invoice_ids.length,
      };
      const { items } = await answerOf(api.POST('/invoices/search', { body, signal }));
      return new Map(items.map((invoice) => [invoice.id, invoice]));
    },
  );

/** What a payment is for: the number of its invoice, a draft, or the type of the record. */
export const paidFor = (
  { invoice_number, destination_type, destination_id }: Payment,
  drafts: Drafts,
): string =>
  invoice_number ?? (drafts.has(destination_id) ? 'Draft' : formatWord(destination_type));
