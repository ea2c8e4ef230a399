import assert from 'node:assert/strict';
import { commitmentTerms } from '../../../domain/pricing/commitment.ts';
import { commitmentReach } from '../../../domain/pricing/validate-commitment.ts';
import {
  dueAfterTrial,
  type Charge,
  type InvoiceScope,
} from '../../../domain/subscription/charges.ts';
import { chargesAroundPauses, endsUnserved } from '../../../domain/subscription/paused-time.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import { isRestart, paidSchedule } from '../../../domain/subscription/schedule.ts';
import { sourcesOfPeriod } from '../../catalog/entitlements/entitlement-sources.ts';
import { isBilledElsewhere } from './billed-elsewhere.ts';
import type { BilledLine, BillingSources } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import { lineQuestion, type UsageLine, type UsagePurpose } from './line-questions.ts';
import { advancesPinned, isPinnedAdvance } from './pinned-advances.ts';
import type { QuestionedCharge } from './rate-charges.ts';

/** The charges of one subscription on an invoice that no other invoice has, each with the questions that rate it. */
export function planCharges(
  target: InvoiceTarget,
  sources: BillingSources,
  purpose: UsagePurpose,
): QuestionedCharge[] {
  const { subscription } = target;
  const lines = linesOf(target, sources);
  const pinned = advancesPinned(target);
  const pauses = pausesOf(target, sources);
  const all = [...chargesOf(target, lines, pauses), ...openTerms(target, lines, pauses)];
  const charges = all.filter(({ line, cell }) => {
    if (isAdvanceBeforeNextPeriod(target, line)) return false;
    const start = 'at' in cell ? cell.at : cell.service.start;
    if (isPinnedAdvance(line, start, pinned)) return false;
    return !isBilledElsewhere(target, sources, line, start);
  });
  return charges.map((charge) => {
    const { line, cell } = charge;
    if (line.price_type === 'FIXED' || 'at' in cell) return { charge, questions: [] };
    return { charge, questions: [lineQuestion(usageLineOf(target, sources, line, purpose), cell)] };
  });
}

function linesOf(
  { subscription, addon }: InvoiceTarget,
  sources: BillingSources,
): readonly BilledLine[] {
  const lines = sources.lines.get(subscription.id) ?? [];
  if (addon == null) return lines;
  return lines.filter((line) => line.addon_association_id === addon.association_id);
}

/** Without prorations the first advance of an addon is that of the period after its start (billing 5.2). */
const isAdvanceBeforeNextPeriod = (
  { addon, period, proration_behavior }: InvoiceTarget,
  line: BilledLine,
): boolean =>
  addon != null &&
  proration_behavior === 'none' &&
  line.invoice_cadence === 'ADVANCE' &&
  line.billing_period !== 'ONETIME' &&
  line.start_date > period.start;

/** Pauses of the subscription. The one that ends with this invoice has ended, although it is not stored so yet. */
export function pausesOf(
  { subscription, period }: Pick<InvoiceTarget, 'subscription' | 'period'>,
  sources: BillingSources,
): readonly PausedTime[] {
  const pauses = sources.pauses.get(subscription.id) ?? [];
  if (subscription.subscription_status !== 'active') return pauses;
  return pauses.map(({ start, end }) => ({ start, end: end ?? period.start }));
}

/** The charges of the two periods, each on the grid that it has: a plan change may move the anchor (billing 14.2). */
function chargesOf(
  { subscription, billing_reason, covers }: InvoiceTarget,
  all: readonly BilledLine[],
  pauses: readonly PausedTime[],
): Charge<BilledLine>[] {
  // Trial time is never billed; only the preview of a trial shows it, at 0 (billing 10.4).
  if (billing_reason === 'SUBSCRIPTION_TRIAL_START')
    return chargesAroundPauses(subscription, all, covers, pauses);
  const lines = dueAfterTrial(all, subscription.trial_end);
  const { closing, opening } = covers;
  const until = closing?.end ?? null;
  if (closing === null || until === null || !isRestart(subscription, until)) {
    const schedule = paidSchedule(subscription, (closing ?? opening)?.start);
    return chargesAroundPauses(schedule, lines, covers, pauses);
  }
  const charges = (scope: InvoiceScope) =>
    chargesAroundPauses(
      paidSchedule(subscription, (scope.closing ?? scope.opening)!.start),
      lines,
      scope,
      pauses,
    );
  const ended = charges({ closing, opening: null }).map(uncut);
  const begun = opening === null ? [] : charges({ closing: null, opening });
  const isUsage = ({ line }: Charge<BilledLine>) => line.price_type === 'USAGE';
  return [...begun, ...ended.filter((charge) => !isUsage(charge)), ...ended.filter(isUsage)];
}

/**
 * Charges of usage lines with a commitment for a term, if the subscription ends with a period, or in a pause that began
 * with it. That period was closed before the end was known, so what is unused of the term is not charged yet (12.8).
 */
function openTerms(
  { subscription, covers: { closing } }: InvoiceTarget,
  lines: readonly BilledLine[],
  pauses: readonly PausedTime[],
): Charge<BilledLine>[] {
  if (closing === null || !endsUnserved(subscription, closing, pauses)) return [];
  return lines.flatMap((line): Charge<BilledLine>[] => {
    const terms = commitmentTerms(line);
    const isOpen =
      terms?.trueUpEnabled === true &&
      commitmentReach(terms, line) === 'term' &&
      isInForce(line, closing);
    return isOpen ? [{ line, cell: { reference: closing, cell: closing, service: closing } }] : [];
  });
}

/** Whether the line is in force from the start of a time that may be empty, or ends with the subscription. */
const isInForce = ({ start_date, end_date }: BilledLine, { start, end }: Period): boolean =>
  start_date <= start && (end_date === null || end_date > start || end_date === end);

/** Fees of a period that a plan change has ended pay their slice, as if their lines had ended there (billing 5.2). */
const uncut = (charge: Charge<BilledLine>): Charge<BilledLine> => {
  const { line, cell } = charge;
  if ('at' in cell || line.price_type !== 'FIXED') return charge;
  const uncutCell = { start: cell.cell.start, end: cell.reference.end };
  return { line, cell: { ...cell, cell: uncutCell } };
};

/** The inputs of a usage line's queries, for the billing period of the target. */
export function usageLineOf(
  target: Pick<InvoiceTarget, 'subscription' | 'proration_behavior' | 'period'>,
  sources: BillingSources,
  line: BilledLine,
  purpose: UsagePurpose,
): UsageLine {
  const { subscription, proration_behavior, period } = target;
  const customer = sources.customers.get(subscription.customer_id);
  assert(customer !== undefined, `customer ${subscription.customer_id} of a subscription exists`);
  return {
    subscription,
    line,
    siblings: sources.lines.get(subscription.id) ?? [],
    proration_behavior,
    entitlements: sourcesOfPeriod(
      (sources.entitlements.get(subscription.id) ?? []).filter(
        ({ meter_id }) => meter_id === line.meter_id,
      ),
      subscription,
      period.end,
    ),
    external_customer_id: customer.external_id,
    pool: sources.pools.get(subscription.id) ?? [],
    pauses: pausesOf(target, sources),
    versions: sources.meterVersions.get(line.meter_id ?? '') ?? [],
    period_start: period.start,
    purpose,
  };
}
