import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { useMay } from '../person.tsx';

type Drafts = ReadonlyMap<string, ApiRecord<'Invoice'>>;

const NONE: Drafts = new Map();

/**
 * Those of the invoices that are drafts, by id: they have no number, their periods tell them apart. Empty until they
 * are known, and for people who may not read them.
 */
export function useDrafts(ids: readonly string[]): Drafts {
  const may = useMay('invoice:read');
  const wanted = [...new Set(ids)].sort();
  const { data } = useQuery({
    queryKey: ['drafts', wanted],
    enabled: may && wanted.length > 0,
    queryFn: async ({ signal }) => {
      const { items } = await answerOf(
        api.POST('/invoices/search', {
          body: { invoice_ids: wanted, invoice_status: ['DRAFT'], limit: wanted.length },
          signal,
        }),
      );
      return new Map(items.map((invoice) => [invoice.id, invoice]));
    },
    placeholderData: keepPreviousData,
  });
  return data ?? NONE;
}
