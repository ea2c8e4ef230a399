import type { InvoiceLineRecord } from '../../../schemas/invoice.ts';
import { isBilledElsewhere } from './billed-elsewhere.ts';
import type { BilledLine, BillingSources } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';

/** The advances of an invoice that a later computation keeps. */
export interface PinnedAdvances {
  /** The start of the period that they pay. */
  readonly from: string;
  /**
   * When the invoice was voided; null if it was not. What a line lost later was not credited, because nothing of it was
   * billed: its advance is computed.
   */
  readonly voided_at: string | null;
}

/** Invoices with which a period begins: all of their rows are its advances. */
const OPENINGS = ['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END', 'SUBSCRIPTION_UPDATE'];

/**
 * The advances of a period that has begun, if the invoice, or the voided one that is billed again, was computed after
 * its start; null otherwise. They are then fixed: a change or a cancellation inside the period charges and credits its
 * own rows (billing 5.2, 13, 14.1), so a later computation of the invoice must not do it again.
 */
export function advancesPinned({
  invoice,
  voided = null,
  billing_reason,
  covers,
}: InvoiceTarget): PinnedAdvances | null {
  const stored = invoice ?? voided;
  if (stored?.last_computed_at == null) return null;
  const isOpening = covers.closing === null && OPENINGS.includes(billing_reason);
  const isCycle = stored.billing_reason === 'SUBSCRIPTION_CYCLE';
  const from = isOpening ? covers.opening?.start : isCycle ? covers.closing?.end : undefined;
  if (from === undefined || stored.last_computed_at < from) return null;
  return { from, voided_at: voided?.voided_at ?? null };
}

/** Whether the charge is an advance of the period whose advances are fixed. */
export const isPinnedAdvance = (
  line: Pick<
    BilledLine,
    'price_type' | 'invoice_cadence' | 'created_at' | 'updated_at' | 'end_set_at'
  >,
  serviceStart: string,
  pinned: PinnedAdvances | null,
): boolean =>
  pinned !== null &&
  line.price_type === 'FIXED' &&
  line.invoice_cadence === 'ADVANCE' &&
  serviceStart >= pinned.from &&
  !hasEndedSince(line, pinned.voided_at);

/** Whether the end of the line was set after an instant. Of a line without that note any change counts. */
const hasEndedSince = (
  {
    created_at,
    updated_at,
    end_set_at,
  }: Pick<BilledLine, 'created_at' | 'updated_at' | 'end_set_at'>,
  at: string | null,
): boolean => at !== null && created_at <= at && (end_set_at ?? updated_at) > at;

/** The computed rows and the stored rows of fixed advances, in the order in which they are stored. */
export function withPinnedAdvances(
  target: InvoiceTarget,
  sources: Pick<BillingSources, 'lines' | 'billed'>,
  stored: readonly InvoiceLineRecord[],
  computed: readonly InvoiceLineRecord[],
): readonly InvoiceLineRecord[] {
  const pinned = advancesPinned(target);
  if (pinned === null) return computed;
  const subscriptions = [target, ...(target.grouped ?? [])].map((part) => part.subscription.id);
  const lines = new Map(
    subscriptions.flatMap((id) => (sources.lines.get(id) ?? []).map((line) => [line.id, line])),
  );
  const kept = stored.filter((row) => {
    const line = lines.get(row.subscription_line_item_id ?? '');
    const start = row.period_start ?? '';
    if (line === undefined || !isPinnedAdvance(line, start, pinned)) return false;
    // While the invoice was void, another one may have billed a one-time fee of it.
    return !isBilledElsewhere(target, sources, line, start);
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
