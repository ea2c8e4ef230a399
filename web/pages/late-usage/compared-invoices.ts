import { answerOf, api, type ApiRecord } from '../../client/api.ts';

export type LateUsage = ApiRecord<'LateUsage'>;
export type LateLine = LateUsage['lines'][number];

/** Invoices that are compared by one request: each is rated again. */
const COMPARED = 100;

/** Which finalized invoices are compared. */
export interface Asked {
  readonly invoice_ids?: string[];
  readonly customer_id?: string;
  readonly period_start_gte?: string;
  readonly period_end_lte?: string;
  readonly include_settled?: boolean;
}

/**
 * The finalized invoices whose usage differs today. Invoices are compared page by page; `onRead` hears how many were
 * compared, and of how many.
 */
export async function comparedInvoices(
  asked: Asked,
  signal: AbortSignal,
  onRead: (done: number, total: number) => void = () => undefined,
): Promise<LateUsage[]> {
  const found: LateUsage[] = [];
  for (let offset = 0; ; offset += COMPARED) {
    const body = { ...asked, limit: COMPARED, offset };
    const page = await answerOf(api.POST('/invoices/late-usage/search', { body, signal }));
    found.push(...page.items);
    const { total } = page.pagination;
    onRead(Math.min(offset + COMPARED, total), total);
    if (offset + COMPARED >= total) return found;
  }
}
