import { setImmediate as nextTurn } from 'node:timers/promises';
import { BillingError } from '../../../domain/errors.ts';
import type { BucketSize } from '../../../domain/time/usage-windows.ts';
import type { CouponAssociation } from '../../../domain/invoicing/coupon-association.ts';
import { subscriptionsOwning } from '../../../domain/metering/attribution.ts';
import { versionToShow } from '../../../domain/metering/version-for-period.ts';
import { NO_COMMITMENT } from '../../../domain/pricing/commitment.ts';
import { subscriptionCommitmentTerms } from '../../../domain/pricing/subscription-commitment.ts';
import type { PriceTerms } from '../../../domain/pricing/price.ts';
import { chargesAroundPauses } from '../../../domain/subscription/paused-time.ts';
import { closingProrations } from '../../../domain/subscription/closing-prorations.ts';
import { periodsWithin } from '../../../domain/subscription/schedule.ts';
import { epochMs, intersection, type Period } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import type { SelectedUsage } from '../../../domain/pricing/filter-values.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import {
  meterVersionsOf,
  versionsStillCounted,
  type MeterVersionRecord,
} from '../../../postgres/tables/meter-versions.ts';
import type { CommittedUsage } from '../../../schemas/invoice.ts';
import type { Meter } from '../../../schemas/meter.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { ApiDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import {
  readBillingSources,
  type BilledLine,
  type BillingSources,
} from '../computing/billing-sources.ts';
import { attachedCoupons } from '../computing/coupon-applications.ts';
import { usageLineOf } from '../computing/plan-charges.ts';
import { lineQuestion } from '../computing/line-questions.ts';
import type { QuestionedCharge } from '../computing/rate-charges.ts';
import { findMeters } from '../../catalog/meters/repository.ts';
import { metersOfVersions } from '../../usage/quantities/repository.ts';

/** A time range whose usage one meter version counts. */
export interface SubjectStretch extends SelectedUsage {
  /** The customers whose usage the line rates; null without a line. */
  readonly external_customer_ids: readonly string[] | null;
  readonly version: MeterVersionRecord;
}

/** A charge with the billing period whose invoice contains it. */
export interface PeriodCharge extends QuestionedCharge {
  readonly period: Period;
}

/** A subject of analysis: a usage line of a subscription, or a meter without one. */
export interface AnalyticsSubject extends RatedSubject {
  readonly meter: Meter;
}

/** The part of a subject that its cost is computed from. */
export interface RatedSubject {
  readonly subscription: SubscriptionRow | null;
  readonly line: BilledLine | null;
  /** Terms of the line or of a costsheet; null means usage without a price. */
  readonly terms: PriceTerms | null;
  /** The price's bucket, else the meter's. */
  readonly bucket: BucketSize | null;
  /** The parts of the range that belong to the subject, ascending; never empty. */
  readonly stretches: readonly SubjectStretch[];
  /** The queries and charges of an invoice, per charge cell; empty without a line. */
  readonly charges: readonly PeriodCharge[];
  /** Pauses of the subscription, in order of time. */
  readonly pauses: readonly PausedTime[];
  /** All coupons of the subscription, including those of its other lines. */
  readonly coupons: readonly CouponAssociation[];
  /** Usage of earlier periods that counts against commitments of the subscription's lines. */
  readonly committedUsage: readonly CommittedUsage[];
  readonly timezone: string;
  /** False for a line that was not asked for: it only shares the commitment of its subscription with the others. */
  readonly isShown: boolean;
}

/**
 * Usage of meters regardless of what is sold, for one customer or for all customers (null). Leaves out meters
 * without usage. Meters whose usage is still being counted have no usage rows yet and are always among them.
 */
export async function bareMeters(
  deps: ApiDeps,
  scope: Scope,
  user: { readonly external_customer_id: string | null; readonly timezone: string },
  range: Period,
  meterIds: readonly string[] | null,
): Promise<AnalyticsSubject[]> {
  const { external_customer_id, timezone } = user;
  const used = await deps.eventReader.meteredVersions({
    ...scope,
    external_customer_ids: external_customer_id === null ? null : [external_customer_id],
    end: epochMs(range.end),
  });
  const counting = await versionsStillCounted(deps.pool, scope);
  const meters = await metersOfVersions(deps.pool, scope, [...used, ...counting], meterIds);
  const versions = await meterVersionsOf(
    deps.pool,
    scope,
    meters.map(({ id }) => id),
  );
  const byMeter = groupBy(versions, ({ meter_id }) => meter_id);
  return meters.flatMap((meter) => {
    const version = versionToShow(byMeter.get(meter.id) ?? [], [], range.start);
    if (version === null) return [];
    const { start, end } = range;
    const whole = {
      start,
      end,
      filter_values: {},
      excluded_filter_values: [],
      excluded_during: [],
      external_customer_ids: null,
      version,
    };
    return {
      meter,
      subscription: null,
      line: null,
      terms: null,
      bucket: version.spec.aggregation.bucket_size,
      stretches: [whole],
      charges: [],
      coupons: [],
      pauses: [],
      committedUsage: [],
      timezone,
      isShown: true,
    };
  });
}

export interface UsageLinesOptions {
  /**
   * Lines whose usage is still being counted: among the lines for `askUsage`, which counts it from the events, or left
   * out for answers of usage rows alone (`counted`). Default: `all`.
   */
  readonly which?: 'all' | 'counted';
  /** `usage_only`: charges without commitments, which apply to whole lines only (money 19.10). Default: `whole`. */
  readonly terms?: 'whole' | 'usage_only';
  /** `whole`: the billing periods that overlap the range, not cut by its bounds, as they are billed. Default: `cut`. */
  readonly periods?: 'cut' | 'whole';
}

/**
 * The usage lines of the subscriptions in the range, each with the queries of its invoices: one billing
 * period after the other, cut to the range (billing 3.3). Time before a line's start, after its end
 * and in a trial is not charged, so it does not belong to the line. `meterIds` limits the lines that are shown, not
 * those that compete for events, an allowance or the commitment of the subscription.
 */
export async function usageLines(
  deps: Pick<ApiDeps, 'pool'>,
  scope: Scope,
  named: readonly SubscriptionRow[],
  range: Period,
  meterIds: readonly string[] | null,
  options: UsageLinesOptions = {},
): Promise<AnalyticsSubject[]> {
  const rangeOf =
    options.periods === 'whole'
      ? (each: SubscriptionRow) => wholePeriods(each, range)
      : () => range;
  const subjects = await linesInRanges(deps, scope, named, rangeOf, meterIds, options);
  const ids = [...new Set(subjects.map(({ line }) => line!.meter_id!))];
  const meters = await findMeters(deps.pool, scope, ids);
  const meterOf = new Map(meters.map((meter) => [meter.id, meter]));
  return subjects.map((subject) => ({ ...subject, meter: meterOf.get(subject.line!.meter_id!)! }));
}

/** The time of the billing periods that overlap the range; the range itself if none does. */
function wholePeriods(subscription: SubscriptionRow, range: Period): Period {
  const periods = periodsWithin(endingAsScheduled(subscription), range).map(({ period }) => period);
  return { start: periods[0]?.start ?? range.start, end: periods.at(-1)?.end ?? range.end };
}

/** The subject in each of its billing periods, in order of time: what one invoice rates of it. */
export function byPeriod<Subject extends RatedSubject>(
  subject: Subject,
): { readonly period: Period; readonly part: Subject }[] {
  return [...groupBy(subject.charges, ({ period }) => period.start).values()].map((charges) => ({
    period: charges[0]!.period,
    part: { ...subject, charges, stretches: joined(charges) },
  }));
}

/** Subscriptions, at least one, with what they are billed from. */
export interface BilledSubscriptions {
  readonly subscriptions: readonly SubscriptionRow[];
  readonly sources: BillingSources;
}

/** What the usage lines of the subscriptions in their running periods are computed from; null: there are no lines. */
export const runningSources = (
  db: Db,
  scope: Scope,
  running: readonly SubscriptionRow[],
): Promise<BilledSubscriptions | null> =>
  sourcesOf(db, scope, owningInRanges(running, runningPeriodOf));

/** The usage lines of the subscriptions in their running periods, without their meters. */
export const runningUsageLines = async (
  running: BilledSubscriptions | null,
  options: UsageLinesOptions,
): Promise<RatedSubject[]> =>
  running === null ? [] : await linesOf(running, runningPeriodOf, null, options);

const runningPeriodOf = (subscription: SubscriptionRow): Period => ({
  start: subscription.current_period_start,
  end: subscription.current_period_end,
});

async function linesInRanges(
  deps: Pick<ApiDeps, 'pool'>,
  scope: Scope,
  named: readonly SubscriptionRow[],
  rangeOf: (subscription: SubscriptionRow) => Period,
  meterIds: readonly string[] | null,
  options: UsageLinesOptions,
): Promise<RatedSubject[]> {
  const owning = owningInRanges(named, rangeOf);
  const subscriptions =
    options.terms === 'usage_only'
      ? owning.map((each) => ({ ...each, commitment_amount: null }))
      : owning;
  const billed = await sourcesOf(deps.pool, scope, subscriptions);
  return billed === null ? [] : await linesOf(billed, rangeOf, meterIds, options);
}

function owningInRanges(
  named: readonly SubscriptionRow[],
  rangeOf: (subscription: SubscriptionRow) => Period,
): SubscriptionRow[] {
  const ending = named.map(endingAsScheduled);
  return ending.flatMap((each) => subscriptionsOwning([each], rangeOf(each)));
}

async function sourcesOf(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<BilledSubscriptions | null> {
  if (subscriptions.length === 0) return null;
  return { subscriptions, sources: await readBillingSources(db, scope, subscriptions, null) };
}

async function linesOf(
  { subscriptions, sources }: BilledSubscriptions,
  rangeOf: (subscription: SubscriptionRow) => Period,
  meterIds: readonly string[] | null,
  { which = 'all', terms = 'whole' }: UsageLinesOptions,
): Promise<RatedSubject[]> {
  const charged = terms === 'whole' ? sources : withoutCommitments(sources);
  const subjects: RatedSubject[] = [];
  for (const subscription of subscriptions) {
    const own = sources.lines.get(subscription.id) ?? [];
    const lineOf = new Map(own.map((line) => [line.id, line]));
    const charges = await chargesInRange(subscription, charged, rangeOf(subscription), which);
    const coupons = attachedCoupons(sources, subscription.id);
    const byLine = groupBy(charges, ({ charge }) => lineOf.get(charge.line.id)!);
    for (const [line, cells] of byLine) {
      const stretches = joined(cells);
      const last = stretches.at(-1);
      if (last === undefined) continue;
      subjects.push({
        subscription,
        line,
        terms: line.terms,
        bucket: line.terms.bucketSize ?? last.version.spec.aggregation.bucket_size,
        stretches,
        charges: cells,
        coupons,
        pauses: sources.pauses.get(subscription.id) ?? [],
        committedUsage: sources.committedUsage.get(subscription.id) ?? [],
        timezone: subscription.customer_timezone,
        isShown: meterIds === null || meterIds.includes(line.meter_id!),
      });
    }
  }
  return subjects.filter(
    ({ isShown, subscription }) => isShown || subscriptionCommitmentTerms(subscription!) !== null,
  );
}

/** The subscription with the end of a cancellation that is scheduled within its running period (billing 13). */
const endingAsScheduled = (subscription: SubscriptionRow): SubscriptionRow =>
  subscription.cancel_at !== null && subscription.cancel_at < subscription.current_period_end
    ? { ...subscription, end_date: subscription.cancel_at }
    : subscription;

const withoutCommitments = (sources: BillingSources): BillingSources => ({
  ...sources,
  lines: new Map(
    [...sources.lines].map(([id, lines]) => [
      id,
      lines.map((line) => ({ ...line, ...NO_COMMITMENT })),
    ]),
  ),
});

/** Charges between two pauses for other requests: ten years of days give each line 3,653. */
const CHARGES_OF_TURN = 250;

/** Usage charges of the billing periods in the range. A period that the range cuts ends there. */
async function chargesInRange(
  subscription: SubscriptionRow,
  sources: BillingSources,
  range: Period,
  which: 'all' | 'counted',
): Promise<PeriodCharge[]> {
  const usage = (sources.lines.get(subscription.id) ?? []).filter(
    ({ price_type, meter_id }) => price_type === 'USAGE' && meter_id !== null,
  );
  const { trial_end, cancelled_at } = subscription;
  const pauses = sources.pauses.get(subscription.id) ?? [];
  const charges: PeriodCharge[] = [];
  let turns = 0;
  for (const { schedule, part, period } of periodsWithin(subscription, range)) {
    const turn = Math.floor(charges.length / CHARGES_OF_TURN);
    if (turn > turns) await nextTurn();
    turns = turn;
    const asked = intersection(period, part.start, part.end);
    const paid = asked && intersection(asked, trial_end ?? asked.start, cancelled_at);
    if (paid === null) continue;
    const proration_behavior = closingProrations(subscription, period, pauses);
    const target = { subscription, proration_behavior, period };
    const covers = { closing: paid, opening: null };
    for (const charge of chargesAroundPauses(schedule, usage, covers, pauses))
      if (!('at' in charge.cell))
        charges.push(...questioned(target, sources, charge.line, charge.cell, which));
  }
  return charges;
}

function questioned(
  target: Parameters<typeof usageLineOf>[0],
  sources: BillingSources,
  line: BilledLine,
  cell: Parameters<typeof lineQuestion>[1],
  which: 'all' | 'counted',
): PeriodCharge[] {
  try {
    const purpose = which === 'all' ? 'shown' : 'draft';
    const question = lineQuestion(usageLineOf(target, sources, line, purpose), cell);
    return [{ charge: { line, cell }, questions: [question], period: target.period }];
  } catch (error) {
    if (error instanceof BillingError && error.code === 'usage_unavailable') return [];
    throw error;
  }
}

/** Joins adjacent stretches with the same version and filters. */
function joined(charges: readonly QuestionedCharge[]): SubjectStretch[] {
  const stretches: SubjectStretch[] = [];
  for (const { query, version } of charges.flatMap(({ questions }) => questions)) {
    const { start, end, filter_values } = query;
    const { excluded_filter_values = [], excluded_during = [], external_customer_ids } = query;
    const selected = {
      filter_values,
      excluded_filter_values,
      excluded_during,
      external_customer_ids,
    };
    const next = { start, end, ...selected, version };
    const last = stretches.at(-1);
    if (last !== undefined && last.end === start && selects(last) === selects(next))
      stretches.splice(-1, 1, { ...last, end });
    else stretches.push(next);
  }
  return stretches;
}

const selects = (stretch: SubjectStretch): string =>
  JSON.stringify([
    stretch.version.id,
    stretch.filter_values,
    stretch.excluded_filter_values,
    stretch.excluded_during,
    stretch.external_customer_ids,
  ]);
