import assert from 'node:assert/strict';
import type { Explanation, ExplanationStep, ExplanationStepOf } from '../../schemas/explanation.ts';
import type { Currency } from '../currency.ts';
import { billableUsage, explainAllowance, type AllowanceShare } from './allowance.ts';
import type { AggregationType, UsageRow } from '../metering/usage.ts';
import { laterOf } from '../time/instant.ts';
import type { BucketSize } from '../time/usage-windows.ts';
import { decimalText, Decimal, ONE, sum, ZERO } from '../money.ts';
import {
  commitmentInfo,
  commitmentTerms,
  explainCommitmentRounding,
  partOf,
  roundCommitment,
  type CommitmentFields,
  type CommitmentPart,
  type CommitmentTerms,
} from './commitment.ts';
import {
  currencyCode,
  explainModel,
  explainRating,
  MAX_EXPLAINED_ENTRIES,
  roundLine,
} from './explain.ts';
import {
  commitForPeriod,
  commitmentAsMoney,
  commitPerWindow,
  type CommitmentWindow,
  type LineCommitment,
  type RatedUnit,
} from './line-commitment.ts';
import type { PriceTerms } from './price.ts';
import {
  chargedSlice,
  isWhole,
  sliceShare,
  timeShare,
  type ChargeCell,
  type ProrationBehavior,
} from './proration.ts';
import { explainQuota, type QuotaShare } from './quota-share.ts';
import { rate, type Rating } from './rate.ts';
import type { LineKind, RatedLine } from './rated-line.ts';
import {
  applyTermCommitment,
  explainTermCommitment,
  type TermPosition,
} from './term-commitment.ts';
import { usageUnits, type UsageUnit } from './usage-units.ts';

/** How the commitment of a line applies to its charge periods (billing 6.2). */
export type CommitmentScope =
  | { readonly scope: 'period' }
  | { readonly scope: 'windows'; readonly windows: readonly CommitmentWindow[] }
  | { readonly scope: 'term'; readonly position: TermPosition };

export interface UsageLineInput {
  readonly line: CommitmentFields;
  readonly price: PriceTerms;
  readonly aggregation: AggregationType;
  /** Window size of the rows: the bucket size of the price, else of the meter. Null means no windows. */
  readonly bucket_size: BucketSize | null;
  readonly timezone: string;
  readonly rows: readonly UsageRow[];
  readonly cell: ChargeCell;
  readonly proration_behavior: ProrationBehavior;
  /** The line's free usage, from `shareAllowance`; null without an entitlement on the meter. */
  readonly allowance?: AllowanceShare | null;
  /** What quotas for windows of time leave to bill; null without quotas. Never beside an allowance. */
  readonly quota?: QuotaShare | null;
  /** How the commitment of the line applies. Absent means `period`. */
  readonly commitment?: CommitmentScope;
  /** Record of the custom currency. Absent means the currency code of the price. */
  readonly currency?: Currency;
}

/**
 * The rows of one USAGE line item for one charge cell: measure → allowance → rate → commitment → round
 * (billing 2.4, 4.5, 6.1). Usage is never prorated (5.2). Returns one row of kind base. A
 * cumulative commitment adds separate rows for the overage and the true-up of the term (6.4).
 */
export function rateUsageLine(input: UsageLineInput): readonly RatedLine[] {
  const windowed =
    input.bucket_size !== null ||
    input.commitment?.scope === 'windows' ||
    input.rows.some((row) => row.window_start !== null);
  const units = usageUnits(input.rows, windowed, input.aggregation);
  const measured = sum(units.map((unit) => unit.quantity));
  const steps: ExplanationStep[] = [explainUsage(input, units, measured)];

  const billable = billableQuantities(units, input);
  let free: Decimal | null = null;
  if (input.allowance) {
    const total = sum(billable);
    free = Decimal.max(measured.minus(total), ZERO);
    steps.push(explainAllowance(input.allowance, measured, total, MAX_EXPLAINED_ENTRIES));
  }

  if (input.quota) {
    const total = sum(billable);
    free = Decimal.max(measured.minus(total), ZERO);
    steps.push(explainQuota(input.quota, measured, total, MAX_EXPLAINED_ENTRIES));
  }

  const ratings = billable.map((quantity) => rate(input.price.model, quantity));
  const rated: Rated = {
    input,
    units,
    ratings,
    quantity: sum(ratings.map((rating) => rating.quantity)),
    amount: sum(ratings.map((rating) => rating.amount)),
    free,
    steps,
  };
  steps.push(explainRatings(rated, windowed));

  const terms = commitmentTerms(input.line);
  if (terms === null) return [plainLine(rated)];
  const scope = input.commitment ?? { scope: 'period' };
  if (scope.scope === 'term') return termLines(rated, terms, scope.position);
  return [committedLine(rated, terms, lineCommitment(rated, terms, scope))];
}

interface Rated {
  readonly input: UsageLineInput;
  readonly units: readonly UsageUnit[];
  readonly ratings: readonly Rating[];
  readonly quantity: Decimal;
  readonly amount: Decimal;
  readonly free: Decimal | null;
  readonly steps: readonly ExplanationStep[];
}

/**
 * Billable quantity of each unit, after the allowance or the quotas. A windowed price has one claim per window, or one
 * for each part of a window that a reset cuts. Without windows there is one claim per reset window, and the billable
 * rest of all claims is rated as one quantity (billing 4.5, 4).
 */
function billableQuantities(
  units: readonly UsageUnit[],
  { allowance = null, quota = null }: Pick<UsageLineInput, 'allowance' | 'quota'>,
): readonly Decimal[] {
  assert(allowance === null || quota === null, 'quotas replace an allowance');
  if (quota !== null) return units.map(({ windowStart }) => quota.billed.get(windowStart) ?? ZERO);
  if (allowance === null) return units.map((unit) => unit.quantity);
  if (units[0]?.windowStart === null) return [billableUsage(allowance)];
  const claimed = byUsageWindow(allowance.entries);
  assert(claimed.length === units.length, 'one claim for each priced window');
  return claimed.map((entries) => sum(entries.map(({ usage, free }) => usage.minus(free))));
}

/** The claims of each usage window; the parts of one follow each other, as windows do not overlap. */
function byUsageWindow(entries: AllowanceShare['entries']): AllowanceShare['entries'][] {
  const windows: AllowanceShare['entries'][number][][] = [];
  for (const entry of entries) {
    const last = windows.at(-1);
    if (entry.part_of !== undefined && last?.[0]!.part_of === entry.part_of) last.push(entry);
    else windows.push([entry]);
  }
  return windows;
}

function plainLine(rated: Rated): RatedLine {
  const rounded = roundLine(rated.amount, currencyOf(rated));
  return ratedLine(rated, 'base', {
    quantity: rated.quantity,
    amount: rounded.amount,
    unrounded: rated.amount,
    free: rated.free,
    info: null,
    steps: [...rated.steps, rounded.step],
  });
}

function lineCommitment(
  { input, units, ratings }: Rated,
  terms: CommitmentTerms,
  scope: Exclude<CommitmentScope, { scope: 'term' }>,
): LineCommitment {
  const ratedUnits = units.map((unit, index) => ({
    windowStart: unit.windowStart,
    rating: ratings[index]!,
  }));
  if (scope.scope === 'windows') {
    const prorated = input.proration_behavior === 'create_prorations';
    const served = terms.windowed ? ratedUnits : servedUnits(ratedUnits, scope.windows);
    return commitPerWindow(terms, input.price.model, served, scope.windows, prorated);
  }
  assert(!terms.windowed, 'a windowed commitment needs its windows');
  const { cell, proration_behavior } = input;
  const isProrated = proration_behavior === 'create_prorations';
  // A period of the calendar with a pause is whole, unless its parts are charged.
  const service = isProrated ? cell.service : (cell.unpaused_service ?? cell.service);
  const slice = chargedSlice({ ...cell, service }, proration_behavior);
  const isCut = isProrated || cell.idle?.lengthens;
  const share = isCut ? sliceShare(slice, cell) : timeShare(slice, cell.reference);
  return commitForPeriod(terms, input.price.model, ratedUnits, isWhole(share) ? null : share);
}

/**
 * The units of a bucket beside windows of a commitment, each from where it is served: a bucket may begin before the
 * first window of the service, or in a window that is wholly paused (billing 6.2). Both lists are ascending in time.
 */
function servedUnits(
  units: readonly RatedUnit[],
  windows: readonly CommitmentWindow[],
): readonly RatedUnit[] {
  let index = 0;
  return units.map((unit) => {
    const { windowStart } = unit;
    if (windowStart === null) return unit;
    while (index < windows.length && windows[index]!.grid.end <= windowStart) index += 1;
    const window = windows[index];
    return { ...unit, windowStart: window ? laterOf(windowStart, window.grid.start) : windowStart };
  });
}

/** One row for the whole charge, its parts in `commitment_info` (billing 6.5). */
function committedLine(
  rated: Rated,
  terms: CommitmentTerms,
  { commitment, outcome, step }: LineCommitment,
): RatedLine {
  const currency = currencyOf(rated);
  const parts = roundCommitment(outcome, currency);
  return ratedLine(rated, 'base', {
    quantity: rated.quantity,
    amount: parts.charge,
    unrounded: outcome.charge,
    free: rated.free,
    info: commitmentInfo(terms, commitment, parts),
    steps: [...rated.steps, step, explainCommitmentRounding(outcome, parts, 'charge', currency)],
  });
}

/**
 * Rows of a term: the usage within the commitment, then the overage and the true-up if they are above zero.
 * Overage and true-up rows are never merged with other rows (billing 6.3, 6.4).
 */
function termLines(
  rated: Rated,
  terms: CommitmentTerms,
  position: TermPosition,
): readonly RatedLine[] {
  const currency = currencyOf(rated);
  const outcome = applyTermCommitment(rated.amount, terms, position);
  const parts = roundCommitment(outcome, currency);
  const step = explainTermCommitment(outcome, terms, position);
  const { commitment } = commitmentAsMoney(terms, rated.input.price.model);
  const row = (kind: LineKind, bills: CommitmentPart): RatedLine => {
    const only = (part: CommitmentPart) => (part === bills ? partOf(parts, part) : ZERO);
    return ratedLine(rated, kind, {
      quantity: kind === 'base' ? rated.quantity : ONE,
      amount: partOf(parts, bills),
      unrounded: partOf(outcome, bills),
      free: kind === 'base' ? rated.free : null,
      info: commitmentInfo(terms, commitment, {
        utilized: only('utilized'),
        overage: only('overage'),
        trueUp: only('true_up'),
      }),
      steps: [...rated.steps, step, explainCommitmentRounding(outcome, parts, bills, currency)],
    });
  };
  return [
    row('base', 'utilized'),
    ...(parts.overage.gt(0) ? [row('overage', 'overage')] : []),
    ...(parts.trueUp.gt(0) ? [row('true_up', 'true_up')] : []),
  ];
}

function ratedLine(
  { input }: Rated,
  kind: LineKind,
  row: {
    readonly quantity: Decimal;
    readonly amount: Decimal;
    readonly unrounded: Decimal;
    readonly free: Decimal | null;
    readonly info: RatedLine['commitment_info'];
    readonly steps: readonly ExplanationStep[];
  },
): RatedLine {
  const period = input.cell.service;
  const explanation: Explanation = {
    kind,
    currency: currencyCode(input.currency ?? input.price.currency),
    period,
    quantity: decimalText(row.quantity),
    amount: decimalText(row.amount),
    steps: [...row.steps],
  };
  return {
    kind,
    period,
    quantity: row.quantity,
    amount: row.amount,
    unrounded: row.unrounded,
    adjusted_entitlement_quantity: row.free,
    commitment_info: row.info,
    explanation,
  };
}

const currencyOf = ({ input }: Rated): Currency => input.currency ?? input.price.currency;

function explainUsage(
  input: UsageLineInput,
  units: readonly UsageUnit[],
  measured: Decimal,
): ExplanationStepOf<'usage'> {
  return {
    step: 'usage',
    rule: input.bucket_size === null ? 'metering 6' : 'billing 2.4',
    aggregation: input.aggregation,
    quantity: decimalText(measured),
    event_count: units.reduce((total, unit) => total + unit.eventCount, 0),
    windows:
      input.bucket_size === null
        ? null
        : {
            bucket_size: input.bucket_size,
            timezone: input.timezone,
            with_usage: new Set(units.map((unit) => unit.windowStart)).size,
          },
  };
}

function explainRatings(rated: Rated, windowed: boolean): ExplanationStepOf<'rate'> {
  const shown = rated.ratings.slice(0, MAX_EXPLAINED_ENTRIES);
  const rest = rated.ratings.slice(MAX_EXPLAINED_ENTRIES);
  return {
    step: 'rate',
    rule: windowed ? 'billing 2.4' : 'billing 2.2',
    model: explainModel(rated.input.price.model),
    ratings: shown.map((rating, index) => {
      const unit = rated.units[index]!;
      return explainRating(rating, unit.windowStart, unit.group);
    }),
    omitted:
      rest.length === 0
        ? null
        : {
            count: rest.length,
            quantity: decimalText(sum(rest.map((rating) => rating.quantity))),
            amount: decimalText(sum(rest.map((rating) => rating.amount))),
          },
    quantity: decimalText(rated.quantity),
    amount: decimalText(rated.amount),
  };
}
