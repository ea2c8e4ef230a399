import type { InvoiceLineRecord } from '../../../schemas/invoice.ts';
import type { BilledLine, BillingSources } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';

/**
 * The start of the next period, if a stored cycle invoice was computed after it; null otherwise. The advances
 * of that period are then fixed: a change or a cancellation inside the period charges and credits its own rows
 * (billing 5.2, 13), so a later computation of the draft must not do it again.
 */
export function advancesPinnedFrom({ invoice, covers }: InvoiceTarget): string | null {
  const { closing } = covers;
  if (invoice?.last_computed_at == null || closing === null) return null;
  if (invoice.billing_reason !== 'SUBSCRIPTION_CYCLE') return null;
  return invoice.last_computed_at >= closing.end ? closing.end : null;
}

/** Whether the charge is an advance of the period whose advances are fixed. */
export const isPinnedAdvance = (
  line: Pick<BilledLine, 'price_type' | 'invoice_cadence'>,
  serviceStart: string,
  pinnedFrom: string | null,
): boolean =>
  pinnedFrom !== null &&
  line.price_type === 'FIXED' &&
  line.invoice_cadence === 'ADVANCE' &&
  serviceStart >= pinnedFrom;

/** The computed rows and the stored rows of fixed advances, in the order in which they are stored. */
export function withPinnedAdvances(
  target: InvoiceTarget,
  sources: Pick<BillingSources, 'lines'>,
  stored: readonly InvoiceLineRecord[],
  computed: readonly InvoiceLineRecord[],
): readonly InvoiceLineRecord[] {
  const pinnedFrom = advancesPinnedFrom(target);
  if (pinnedFrom === null) return computed;
  const subscriptions = [target, ...(target.grouped ?? [])].map((part) => part.subscription.id);
  const lines = new Map(
    subscriptions.flatMap((id) => (sources.lines.get(id) ?? []).map((line) => [line.id, line])),
  );
  const kept = stored.filter((row) => {
    const line = lines.get(row.subscription_line_item_id ?? '');
    return line !== undefined && isPinnedAdvance(line, row.period_start ?? '', pinnedFrom);
  });
  const positions = new Map(stored.map((row) => [serviceOf(row), row.position]));
  const place = (row: InvoiceLineRecord) =>
    positions.get(serviceOf(row)) ?? Number.MAX_SAFE_INTEGER;
  return [...computed, ...kept]
    .toSorted((left, right) => place(left) - place(right))
    .map((row, position) => ({ ...row, position }));
}

/** What a row bills (billing 3.1). */
const serviceOf = ({ subscription_line_item_id: line, period_start, kind }: InvoiceLineRecord) =>
  `${line} ${period_start} ${kind}`;
