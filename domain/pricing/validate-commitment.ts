import type { Decimal } from '../money.ts';
import { compareLength, type BillingPeriod, type Cadence } from './cadence.ts';
import type { CommitmentType } from './commitment.ts';
import type { PriceType } from './price.ts';
import { problems, readDecimal, type Problems } from './problems.ts';

/** The commitment of a line item as a client sends it; absent and null both mean "not set". */
export interface LineCommitmentDefinition {
  readonly commitment_type?: CommitmentType | null;
  readonly commitment_amount?: string | number | null;
  readonly commitment_quantity?: string | number | null;
  readonly commitment_duration?: BillingPeriod | null;
  readonly commitment_overage_factor?: string | number | null;
  readonly commitment_true_up_enabled?: boolean | null;
  readonly commitment_windowed?: boolean | null;
}

export interface CommittedLine {
  readonly type: PriceType;
  /** Whether the price or its meter has a bucket size. */
  readonly windowed: boolean;
  /** Whether the subscription has a commitment of its own. */
  readonly subscription_committed?: boolean;
}

/**
 * Refuses a commitment that cannot be billed on the line. Paths of the problems start with `path`
 * (billing 6.1, 6.2). The factor defaults to 1 and may be 1.
 */
export function validateLineCommitment(
  commitment: LineCommitmentDefinition,
  line: CommittedLine,
  path = '',
): void {
  const found = problems();
  const at = (field: keyof LineCommitmentDefinition) => (path === '' ? field : `${path}.${field}`);
  const amount = positive(commitment.commitment_amount, at('commitment_amount'), found);
  const quantity = positive(commitment.commitment_quantity, at('commitment_quantity'), found);
  checkFactor(commitment.commitment_overage_factor, at('commitment_overage_factor'), found);

  if (amount === null && quantity === null) {
    if (asksForCommitment(commitment)) {
      const message = 'needs commitment_amount or commitment_quantity';
      found.add(at('commitment_amount'), 'commitment_value_required', message);
    }
    return found.refuse();
  }
  if (amount !== null && quantity !== null) {
    const message = 'and commitment_amount exclude each other';
    found.add(at('commitment_quantity'), 'commitment_of_both', message);
  }
  const type = amount === null ? 'quantity' : 'amount';
  if (commitment.commitment_type && commitment.commitment_type !== type) {
    const message = `says ${commitment.commitment_type}, but commitment_${type} is given`;
    found.add(at('commitment_type'), 'commitment_type_mismatch', message);
  }
  if (line.type === 'FIXED') {
    const message = 'is for USAGE lines only';
    found.add(at(`commitment_${type}`), 'commitment_on_fixed', message);
  }
  if (line.subscription_committed) {
    const message = 'cannot be set beside a commitment of the subscription';
    found.add(at(`commitment_${type}`), 'commitment_on_both_levels', message);
  }
  if (commitment.commitment_duration === 'ONETIME') {
    found.add(at('commitment_duration'), 'commitment_not_recurring', 'must recur');
  }
  if (commitment.commitment_windowed) {
    checkWindowed(commitment, line, at, found);
  }
  found.refuse();
}

function checkWindowed(
  commitment: LineCommitmentDefinition,
  line: CommittedLine,
  at: (field: keyof LineCommitmentDefinition) => string,
  found: Problems,
): void {
  if (!line.windowed) {
    const message = 'needs a bucket size on the price or its meter';
    found.add(at('commitment_windowed'), 'commitment_without_windows', message);
  }
  if (commitment.commitment_duration) {
    const message = 'cannot be set with commitment_windowed: the window is the bucket';
    found.add(at('commitment_duration'), 'commitment_duration_of_window', message);
  }
}

export interface SubscriptionCommitmentDefinition {
  readonly commitment_amount?: string | number | null;
  readonly commitment_duration?: BillingPeriod | null;
  readonly overage_factor?: string | number | null;
}

/**
 * Refuses a commitment of a subscription that cannot be billed: an amount below zero, a factor below 1, or a
 * term shorter than the billing period (billing 6.1, 6.4).
 */
export function validateSubscriptionCommitment(
  subscription: SubscriptionCommitmentDefinition,
  cadence: Cadence,
): void {
  const found = problems();
  positive(subscription.commitment_amount, 'commitment_amount', found);
  checkFactor(subscription.overage_factor, 'overage_factor', found);
  const duration = subscription.commitment_duration;
  if (duration === 'ONETIME') {
    found.add('commitment_duration', 'commitment_not_recurring', 'must recur');
  } else if (duration && compareLength(term(duration), cadence) < 0) {
    const message = `must not be shorter than the billing period`;
    found.add('commitment_duration', 'commitment_term_too_short', message);
  }
  found.refuse();
}

/**
 * How the duration of a commitment compares to the charge period of its line (billing 6.2, 6.3).
 */
export type CommitmentReach = 'period' | 'windows' | 'term';

/**
 * `windows`: per bucket, or the duration is shorter than the charge period. `term`: the duration is longer.
 * `period`: once per charge period.
 */
export function commitmentReach(
  commitment: { readonly windowed: boolean; readonly duration: BillingPeriod | null },
  charge: Cadence,
): CommitmentReach {
  if (commitment.windowed) return 'windows';
  if (commitment.duration === null) return 'period';
  const difference = compareLength(term(commitment.duration), charge);
  if (difference === 0) return 'period';
  return difference < 0 ? 'windows' : 'term';
}

/** A duration is a unit without a count: its count is 1 (billing 6.4). */
const term = (duration: BillingPeriod): Cadence => ({
  billing_period: duration,
  billing_period_count: 1,
});

function asksForCommitment(commitment: LineCommitmentDefinition): boolean {
  return Boolean(
    commitment.commitment_type ||
    commitment.commitment_duration ||
    commitment.commitment_windowed ||
    commitment.commitment_true_up_enabled,
  );
}

/** The value if above zero, else null; zero means not set. */
function positive(
  input: string | number | null | undefined,
  path: string,
  found: Problems,
): Decimal | null {
  const value = isGiven(input) ? readDecimal(input, path, found) : null;
  if (value?.lt(0)) found.add(path, 'negative_commitment', 'must not be negative');
  return value?.gt(0) ? value : null;
}

function checkFactor(
  input: string | number | null | undefined,
  path: string,
  found: Problems,
): void {
  const factor = isGiven(input) ? readDecimal(input, path, found) : null;
  if (factor?.lt(1)) found.add(path, 'overage_factor_below_one', 'must be at least 1');
}

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;
