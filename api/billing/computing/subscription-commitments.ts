import assert from 'node:assert/strict';
import { decimal, decimalText } from '../../../domain/money.ts';
import type { TermLedgerEntry } from '../../../domain/pricing/commitment-term.ts';
import { isWhole, sliceShare, type TimeShare } from '../../../domain/pricing/proration.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import {
  commitSubscription,
  subscriptionCommitmentTerms,
  type SubscriptionCommitmentScope,
  type SubscriptionCommitmentTerms,
} from '../../../domain/pricing/subscription-commitment.ts';
import { commitmentReach } from '../../../domain/pricing/validate-commitment.ts';
import { endsUnserved } from '../../../domain/subscription/paused-time.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import { byText } from '../../../domain/text-order.ts';
import { earlierOf, type Period } from '../../../domain/time/instant.ts';
import {
  idleIn,
  pauseAtEnd,
  pausedCells,
  type IdleTime,
  type PausedTime,
} from '../../../domain/time/paused-cells.ts';
import type { CommittedUsage } from '../../../schemas/invoice.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import type { RatedCharge } from './rate-charges.ts';
import {
  ledgerNameOf,
  OF_SUBSCRIPTION,
  positionInTerm,
  termUsage,
  type TermTime,
} from './term-ledger.ts';

/** A row of the plan itself: the unused part of the subscription's commitment. */
export interface TrueUpCharge {
  readonly line: null;
  readonly rated: RatedLine;
  readonly metadata: Readonly<Record<string, string>>;
}

/** A row of an invoice before it is recorded. */
export type InvoiceCharge = RatedCharge | TrueUpCharge;

/** What a commitment of the subscription needs to know of the invoice. */
type CommittedTarget = Pick<InvoiceTarget, 'subscription' | 'proration_behavior' | 'covers'>;

export interface CommittedCharges {
  readonly charges: readonly InvoiceCharge[];
  /** What the invoice counts against commitments of several periods (billing 6.4). */
  readonly committed_usage: readonly CommittedUsage[];
}

/**
 * The rows of an invoice under the commitment of its subscription (billing 6.3): usage rows are divided into
 * what is within the commitment and what is beyond, and a true-up is added. Usage rows share the commitment in
 * the order of their meters' names. Without a commitment the rows stay as they are.
 */
export function commitCharges(
  target: CommittedTarget,
  rated: readonly RatedCharge[],
  earlier: readonly CommittedUsage[],
  time: TermTime,
): CommittedCharges {
  const { subscription, covers } = target;
  const ofLines = rated.flatMap(({ line, rated: row }) =>
    termUsage(row).map((entry) => ({
      ...entry,
      subscription_id: subscription.id,
      commitment: ledgerNameOf(line),
    })),
  );
  const terms = subscriptionCommitmentTerms(subscription);
  if (terms === null || covers.closing === null)
    return { charges: rated, committed_usage: ofLines };

  const period = covers.closing;
  // A period without service has no commitment of its own. One for a longer term may still be open (billing 12.8).
  if (reachOf(subscription) === 'period' && endsUnserved(subscription, period, time.pauses))
    return { charges: rated, committed_usage: ofLines };
  const isUsage = ({ line, rated: row }: RatedCharge) =>
    line.price_type === 'USAGE' && row.kind === 'base';
  const pooled = rated
    .filter(isUsage)
    .toSorted((left, right) => byText(meterOf(left), meterOf(right)));
  const scope = scopeOf(target, period, { terms, earlier, ...time });
  const { currency } = subscription;
  const found = commitSubscription(
    pooled.map((charge) => charge.rated),
    terms,
    scope,
    period,
    currency,
  );
  const parts = new Map(pooled.map((charge, index) => [charge, found.rows[index]!]));
  const charges = rated.flatMap((charge): RatedCharge[] => {
    const part = parts.get(charge);
    if (part === undefined) return [charge];
    const within = { ...charge, rated: part.within };
    if (part.overage === null) return [within];
    // The usage is stated on one of the two rows.
    return [within, { ...charge, rated: part.overage, questions: [] }];
  });
  const trueUp: TrueUpCharge[] =
    found.trueUp === null
      ? []
      : [
          {
            line: null,
            rated: found.trueUp,
            metadata: {
              commitment_amount: decimalText(terms.amount),
              commitment_utilized: decimalText(found.parts.utilized),
              description: 'Remaining commitment amount for billing period',
              is_commitment_trueup: 'true',
            },
          },
        ];
  const ofTerm =
    scope.scope === 'term'
      ? [
          {
            subscription_id: subscription.id,
            commitment: OF_SUBSCRIPTION,
            period_start: period.start,
            base_usage: decimalText(found.baseUsage),
          },
        ]
      : [];
  return { charges: [...charges, ...trueUp], committed_usage: [...ofLines, ...ofTerm] };
}

const meterOf = ({ line }: RatedCharge): string => line.meter_display_name ?? '';

function scopeOf(
  { subscription, proration_behavior }: CommittedTarget,
  period: Period,
  {
    terms,
    earlier,
    pauses,
    ...time
  }: TermTime & {
    readonly terms: SubscriptionCommitmentTerms;
    readonly earlier: readonly CommittedUsage[];
  },
): SubscriptionCommitmentScope {
  const { commitment_duration: duration } = subscription;
  if (reachOf(subscription) === 'period') {
    const share = proration_behavior === 'none' ? null : stubShare(subscription, period, pauses);
    return { scope: 'period', share };
  }
  const position = positionInTerm(subscription, {
    duration,
    commitment: terms.amount,
    ...{ pauses, ...time },
    ledger: subscriptionLedger(earlier),
    period,
    proration_behavior,
  });
  return { scope: 'term', position };
}

function reachOf(subscription: InvoiceTarget['subscription']): 'period' | 'term' {
  const { commitment_duration: duration } = subscription;
  const reach = commitmentReach({ windowed: false, duration }, subscription);
  assert(reach !== 'windows', 'a commitment of the subscription covers a period or more');
  return reach;
}

/** The usage that the subscription's own commitment has covered so far. */
export const subscriptionLedger = (earlier: readonly CommittedUsage[]): TermLedgerEntry[] =>
  earlier
    .filter(({ commitment }) => commitment === OF_SUBSCRIPTION)
    .map(({ period_start, base_usage }) => ({ period_start, base_usage: decimal(base_usage) }));

/**
 * The part of the billing period that a stub covers, without its pauses; null for a whole period. A pause in which the
 * subscription ends adds nothing (billing 12.8).
 */
function stubShare(
  subscription: InvoiceTarget['subscription'],
  period: Period,
  pauses: readonly PausedTime[],
): TimeShare | null {
  const schedule = paidSchedule(subscription, period.start);
  const isCalendar = schedule.billing_cycle === 'calendar';
  const end = isCalendar ? null : (pauseAtEnd(period, pauses)?.start ?? null);
  const counted = { start: period.start, end: earlierOf(period.end, end) };
  const cells = pausedCells(schedule, subscription, counted, pauses);
  const [only] = cells;
  if (only === undefined || cells.length > 1) return null;
  const { cell, reference } = only;
  const idle = isCalendar ? idleOnCalendar(cell, pauses) : idleIn(schedule, reference, pauses);
  const share = sliceShare(cell, { reference, ...(idle === undefined ? {} : { idle }) });
  return isWhole(share) ? null : share;
}

/** A calendar does not move: pauses that reach beyond the period take their part of it too (billing 12.3). */
const idleOnCalendar = ({ end: last }: Period, pauses: readonly PausedTime[]): IdleTime => ({
  times: pauses.map(({ start, end }) => ({ start, end: end ?? last })),
  lengthens: false,
});
