import assert from 'node:assert/strict';
import { decimal, decimalText, Decimal, ZERO } from '../money.ts';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { roundToCurrency, type Currency } from '../currency.ts';
import type { BillingPeriod } from './cadence.ts';
import { explainRounding } from './explain.ts';

export const COMMITMENT_TYPES = ['amount', 'quantity'] as const;
export type CommitmentType = (typeof COMMITMENT_TYPES)[number];

/** The commitment fields of a subscription line item, decimals as text. */
export interface CommitmentFields {
  readonly commitment_type?: CommitmentType | null;
  readonly commitment_amount?: string | null;
  readonly commitment_quantity?: string | null;
  readonly commitment_duration?: BillingPeriod | null;
  readonly commitment_overage_factor?: string | null;
  readonly commitment_true_up_enabled?: boolean | null;
  readonly commitment_windowed?: boolean | null;
}

/** The commitment fields of a line item without a commitment. */
export const NO_COMMITMENT = {
  commitment_type: null,
  commitment_amount: null,
  commitment_quantity: null,
  commitment_duration: null,
  commitment_overage_factor: null,
  commitment_true_up_enabled: false,
  commitment_windowed: false,
} as const satisfies CommitmentFields;

/** Terms of a commitment: the committed value, the overage factor above it, the true-up below it. */
export interface CommitmentTerms {
  readonly type: CommitmentType;
  /** Money for `amount`, units for `quantity`. */
  readonly value: Decimal;
  readonly overageFactor: Decimal;
  readonly trueUpEnabled: boolean;
  /** Applies to each window of the price or meter separately. */
  readonly windowed: boolean;
  readonly duration: BillingPeriod | null;
}

/** The terms of a line item. Null without a commitment; a factor of 1 is valid (billing 6.1). */
export function commitmentTerms(line: CommitmentFields): CommitmentTerms | null {
  const amount = positiveOrNull(line.commitment_amount);
  const quantity = positiveOrNull(line.commitment_quantity);
  assert(amount === null || quantity === null, 'a commitment of both amount and quantity');
  const value = amount ?? quantity;
  if (value === null) return null;
  const overageFactor = decimal(line.commitment_overage_factor ?? '1');
  assert(overageFactor.gte(1), 'an overage factor below 1');
  return {
    type: amount === null ? 'quantity' : 'amount',
    value,
    overageFactor,
    trueUpEnabled: line.commitment_true_up_enabled ?? false,
    windowed: line.commitment_windowed ?? false,
    duration: line.commitment_duration ?? null,
  };
}

/** A charge under a commitment, unrounded. utilized + overage + trueUp = charge. */
export interface CommitmentOutcome {
  /** Usage in money, before the commitment. */
  readonly usage: Decimal;
  readonly commitment: Decimal;
  readonly utilized: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
  readonly charge: Decimal;
}

/**
 * Charge for usage U under commitment C with overage factor f (billing 6.1): U ≥ C gives C + (U −
 * C) × f; U < C gives C with true-up, else U. At U = C there is neither overage nor true-up.
 */
export function applyCommitment(
  usage: Decimal,
  commitment: Decimal,
  overageFactor: Decimal,
  trueUpEnabled: boolean,
): CommitmentOutcome {
  assert(usage.gte(0) && commitment.gte(0), 'a negative usage or commitment');
  assert(overageFactor.gte(1), 'an overage factor below 1');
  const utilized = Decimal.min(usage, commitment);
  const overage = usage.minus(utilized).times(overageFactor);
  const trueUp = trueUpEnabled ? commitment.minus(utilized) : ZERO;
  return {
    usage,
    commitment,
    utilized,
    overage,
    trueUp,
    charge: utilized.plus(overage).plus(trueUp),
  };
}

/** Totals of the outcomes of several windows (billing 6.5). */
export function addOutcomes(outcomes: readonly CommitmentOutcome[]): CommitmentOutcome {
  const total: Mutable<CommitmentOutcome> = { ...NOTHING };
  for (const outcome of outcomes) {
    total.usage = total.usage.plus(outcome.usage);
    total.commitment = total.commitment.plus(outcome.commitment);
    total.utilized = total.utilized.plus(outcome.utilized);
    total.overage = total.overage.plus(outcome.overage);
    total.trueUp = total.trueUp.plus(outcome.trueUp);
    total.charge = total.charge.plus(outcome.charge);
  }
  return total;
}

const NOTHING: CommitmentOutcome = {
  usage: ZERO,
  commitment: ZERO,
  utilized: ZERO,
  overage: ZERO,
  trueUp: ZERO,
  charge: ZERO,
};

/** The parts of a charge in minor units; they sum to the rounded charge. */
export interface RoundedCommitment {
  readonly charge: Decimal;
  readonly utilized: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
}

/**
 * Rounds the charge, the overage and the true-up. Utilized is the remainder, so the three parts still sum to
 * the charge (billing 6.1). Windows can bring both an overage and a true-up. If both round up, the
 * true-up is reduced so that utilized does not fall below zero.
 */
export function roundCommitment(outcome: CommitmentOutcome, currency: Currency): RoundedCommitment {
  const charge = roundToCurrency(outcome.charge, currency);
  const overage = roundToCurrency(outcome.overage, currency);
  const trueUp = Decimal.min(roundToCurrency(outcome.trueUp, currency), charge.minus(overage));
  return { charge, utilized: charge.minus(overage).minus(trueUp), overage, trueUp };
}

/** The figures of an outcome for an explanation. */
export function explainOutcome(outcome: CommitmentOutcome) {
  return {
    usage: decimalText(outcome.usage),
    commitment: decimalText(outcome.commitment),
    utilized: decimalText(outcome.utilized),
    overage: decimalText(outcome.overage),
    true_up: decimalText(outcome.trueUp),
    amount: decimalText(outcome.charge),
  };
}

/** The part of a committed charge that one row bills. */
export const COMMITMENT_PARTS = ['charge', 'utilized', 'overage', 'true_up'] as const;
export type CommitmentPart = (typeof COMMITMENT_PARTS)[number];

export function partOf(
  parts: RoundedCommitment | CommitmentOutcome,
  part: CommitmentPart,
): Decimal {
  return part === 'true_up' ? parts.trueUp : parts[part];
}

/** The rounding of a committed charge, and the part of it that a row bills (billing 6.1). */
export function explainCommitmentRounding(
  outcome: CommitmentOutcome,
  parts: RoundedCommitment,
  bills: CommitmentPart,
  currency: Currency,
): ExplanationStepOf<'rounding'> {
  return {
    ...explainRounding(outcome.charge, partOf(parts, bills), currency),
    rule: 'billing 6.1',
    parts: {
      charge: decimalText(parts.charge),
      utilized: decimalText(parts.utilized),
      overage: decimalText(parts.overage),
      true_up: decimalText(parts.trueUp),
    },
    bills,
  };
}

/** `commitment_info` of an invoice line. The three computed values sum to the amount of the line. */
export interface CommitmentInfo {
  readonly type: CommitmentType;
  /** The commitment as money; for windowed items the commitment of one window. */
  readonly amount: string;
  readonly quantity: string;
  readonly duration: string | null;
  readonly is_windowed: boolean;
  readonly overage_factor: string;
  readonly true_up_enabled: boolean;
  readonly computed_commitment_utilized_amount: string;
  readonly computed_overage_amount: string;
  readonly computed_true_up_amount: string;
}

/**
 * Builds `commitment_info` (billing 6.5). `amount` is C as money; for a quantity commitment, the
 * price of the quantity.
 */
export function commitmentInfo(
  terms: CommitmentTerms,
  amount: Decimal,
  computed: { utilized: Decimal; overage: Decimal; trueUp: Decimal },
): CommitmentInfo {
  return {
    type: terms.type,
    amount: decimalText(amount),
    quantity: terms.type === 'quantity' ? decimalText(terms.value) : '0',
    duration: terms.duration,
    is_windowed: terms.windowed,
    overage_factor: decimalText(terms.overageFactor),
    true_up_enabled: terms.trueUpEnabled,
    computed_commitment_utilized_amount: decimalText(computed.utilized),
    computed_overage_amount: decimalText(computed.overage),
    computed_true_up_amount: decimalText(computed.trueUp),
  };
}

function positiveOrNull(text: string | null | undefined): Decimal | null {
  if (text === null || text === undefined) return null;
  const value = decimal(text);
  assert(value.gte(0), 'a negative commitment');
  return value.gt(0) ? value : null;
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
