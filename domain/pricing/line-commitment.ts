import assert from 'node:assert/strict';
import type { ExplainedRating, ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimalText, sum, type Decimal } from '../money.ts';
import {
  addOutcomes,
  applyCommitment,
  explainOutcome,
  type CommitmentOutcome,
  type CommitmentTerms,
} from './commitment.ts';
import { explainRating, MAX_EXPLAINED_ENTRIES } from './explain.ts';
import type { ChargeModel } from './price.ts';
import { isWhole, prorate, sliceShare, type TimeShare } from './proration.ts';
import { type Period } from '../time/instant.ts';
import type { IdleTime } from '../time/paused-cells.ts';
import { rate, type Rating } from './rate.ts';

/** A window of a commitment: whole (`grid`) and cut to the service period (`service`). */
export interface CommitmentWindow {
  readonly grid: Period;
  readonly service: Period;
  /** Pauses in the window; absent without one. */
  readonly idle?: IdleTime;
}

/** Rating of one unit and the start of its window. Null means the whole charge period. */
export interface RatedUnit {
  readonly windowStart: string | null;
  readonly rating: Rating;
}

export interface LineCommitment {
  /** C as money, before scaling; per window if the commitment applies per window. */
  readonly commitment: Decimal;
  readonly outcome: CommitmentOutcome;
  readonly step: ExplanationStepOf<'commitment'>;
}

/** C as money: the amount, or the price of the committed quantity (billing 6.1). */
export function commitmentAsMoney(
  terms: CommitmentTerms,
  model: ChargeModel,
): { commitment: Decimal; rating: Rating | null } {
  if (terms.type === 'amount') return { commitment: terms.value, rating: null };
  const rating = rate(model, terms.value);
  return { commitment: rating.amount, rating };
}

/**
 * A commitment that applies once for the charge period (billing 6.2). `share` scales it for a stub.
 * Null means no scaling.
 */
export function commitForPeriod(
  terms: CommitmentTerms,
  model: ChargeModel,
  units: readonly { readonly rating: Pick<Rating, 'amount'> }[],
  share: TimeShare | null,
): LineCommitment {
  const { commitment, rating } = commitmentAsMoney(terms, model);
  const outcome = applyCommitment(
    sum(units.map((unit) => unit.rating.amount)),
    scaled(commitment, share),
    terms.overageFactor,
    terms.trueUpEnabled,
  );
  const step = explainCommitment(terms, rating, outcome, {
    rule: 'billing 6.1',
    share,
    windows: null,
    omitted: null,
  });
  return { commitment, outcome, step };
}

/**
 * A commitment that applies to each window separately (billing 6.2). The windows are those of the
 * service period, including windows without usage. A window that the service cuts has a share of the
 * commitment if `prorated`, else all of it.
 */
export function commitPerWindow(
  terms: CommitmentTerms,
  model: ChargeModel,
  units: readonly RatedUnit[],
  windows: readonly CommitmentWindow[],
  prorated: boolean,
): LineCommitment {
  const { commitment, rating } = commitmentAsMoney(terms, model);
  const usage = usageByWindow(units, windows);
  const outcomes = windows.map((window, index) => {
    const share = prorated ? cutShare(window) : null;
    const outcome = applyCommitment(
      sum(usage[index]!),
      scaled(commitment, share),
      terms.overageFactor,
      terms.trueUpEnabled,
    );
    return { start: window.grid.start, share, outcome };
  });
  const outcome = addOutcomes(outcomes.map((entry) => entry.outcome));
  const shown = outcomes.slice(0, MAX_EXPLAINED_ENTRIES);
  const rest = outcomes.slice(MAX_EXPLAINED_ENTRIES);
  const step = explainCommitment(terms, rating, outcome, {
    rule: 'billing 6.2',
    share: null,
    windows: shown.map((entry) => ({
      start: entry.start,
      share: entry.share,
      ...explainOutcome(entry.outcome),
    })),
    omitted:
      rest.length === 0
        ? null
        : {
            count: rest.length,
            ...explainOutcome(addOutcomes(rest.map((entry) => entry.outcome))),
          },
  });
  return { commitment, outcome, step };
}

/**
 * Share of the window that the service covers. Null for a whole window. A month has up to 44,640 minutes:
 * comparing text finds whole windows without parsing instants.
 */
function cutShare({ service, grid, idle }: CommitmentWindow): TimeShare | null {
  const isUncut = service.start === grid.start && service.end === grid.end;
  if (isUncut && idle === undefined) return null;
  const share = sliceShare(service, { reference: grid, ...(idle === undefined ? {} : { idle }) });
  return isWhole(share) ? null : share;
}

/** Usage money of each window. Every unit is in one of the windows. Both lists are ascending in time. */
function usageByWindow(
  units: readonly RatedUnit[],
  windows: readonly CommitmentWindow[],
): readonly Decimal[][] {
  const amounts: Decimal[][] = windows.map(() => []);
  let index = 0;
  for (const unit of units) {
    assert(unit.windowStart !== null, 'a windowed commitment needs windowed usage');
    while (index < windows.length && windows[index]!.grid.end <= unit.windowStart) index += 1;
    const window = windows[index];
    assert(window && window.grid.start <= unit.windowStart, `no window for ${unit.windowStart}`);
    amounts[index]!.push(unit.rating.amount);
  }
  return amounts;
}

const scaled = (commitment: Decimal, share: TimeShare | null): Decimal =>
  share === null ? commitment : prorate(commitment, share);

function explainCommitment(
  terms: CommitmentTerms,
  quantityRating: Rating | null,
  outcome: CommitmentOutcome,
  detail: Pick<ExplanationStepOf<'commitment'>, 'rule' | 'share' | 'windows' | 'omitted'>,
): ExplanationStepOf<'commitment'> {
  const rating: ExplainedRating | null =
    quantityRating === null ? null : explainRating(quantityRating);
  return {
    step: 'commitment',
    type: terms.type,
    promised: decimalText(terms.value),
    quantity_rating: rating,
    overage_factor: decimalText(terms.overageFactor),
    true_up_enabled: terms.trueUpEnabled,
    ...detail,
    ...explainOutcome(outcome),
  };
}
