import type { BillingPeriod } from '../../../domain/pricing/cadence.ts';
import {
  commitmentReach,
  validateLineCommitment,
  validateSubscriptionCommitment,
  type LineCommitmentDefinition,
  type SubscriptionCommitmentDefinition,
} from '../../../domain/pricing/validate-commitment.ts';
import { refusalOf } from '../../support/refusal.ts';

const USAGE = { type: 'USAGE' as const, windowed: false };
const WINDOWED = { type: 'USAGE' as const, windowed: true };

describe('accepted on a line', () => {
  test.each<[LineCommitmentDefinition]>([
    [{}],
    [{ commitment_amount: '100' }],
    [{ commitment_amount: 100, commitment_overage_factor: 1 }],
    [{ commitment_amount: '100', commitment_type: 'amount', commitment_overage_factor: '1.5' }],
    [{ commitment_quantity: '5', commitment_type: 'quantity', commitment_duration: 'DAILY' }],
    [{ commitment_quantity: '5', commitment_true_up_enabled: true }],
    [{ commitment_amount: '0', commitment_quantity: null }],
    [{ commitment_amount: '0', commitment_quantity: '5' }],
    [{ commitment_amount: null, commitment_true_up_enabled: false, commitment_windowed: false }],
    [{ commitment_overage_factor: '2' }],
  ])('%p', (commitment) => {
    expect(validateLineCommitment(commitment, USAGE)).toBeUndefined();
  });

  test('per window, where there are windows', () => {
    const windowed = { commitment_amount: '1', commitment_windowed: true };
    expect(validateLineCommitment(windowed, WINDOWED)).toBeUndefined();
  });

  test('nothing on a fixed line', () => {
    expect(validateLineCommitment({}, { type: 'FIXED', windowed: false })).toBeUndefined();
  });
});

/** The commitment, what its line is otherwise, and the problems. */
const REFUSED: readonly [LineCommitmentDefinition, object, string[]][] = [
    [{ commitment_amount: '1', commitment_quantity: '1' }, {}, ['commitment_quantity commitment_of_both']],
    [{ commitment_amount: '1', commitment_type: 'quantity' }, {}, ['commitment_type commitment_type_mismatch']],
    [{ commitment_quantity: '1', commitment_type: 'amount' }, {}, ['commitment_type commitment_type_mismatch']],
    [{ commitment_amount: '1', commitment_overage_factor: '0.99' }, {}, ['commitment_overage_factor overage_factor_below_one']],
    [{ commitment_overage_factor: '0.5' }, {}, ['commitment_overage_factor overage_factor_below_one']],
    [{ commitment_amount: '-1' }, {}, ['commitment_amount negative_commitment']],
    [{ commitment_quantity: '-1' }, {}, ['commitment_quantity negative_commitment']],
    [{ commitment_amount: 'x' }, {}, ['commitment_amount invalid_decimal']],
    [{ commitment_amount: '1', commitment_overage_factor: 'x' }, {}, ['commitment_overage_factor invalid_decimal']],
    [{ commitment_type: 'amount' }, {}, ['commitment_amount commitment_value_required']],
    [{ commitment_duration: 'ANNUAL' }, {}, ['commitment_amount commitment_value_required']],
    [{ commitment_true_up_enabled: true }, {}, ['commitment_amount commitment_value_required']],
    [{ commitment_windowed: true }, { windowed: true }, ['commitment_amount commitment_value_required']],
    [{ commitment_amount: '1' }, { type: 'FIXED' }, ['commitment_amount commitment_on_fixed']],
    [{ commitment_quantity: '1' }, { type: 'FIXED' }, ['commitment_quantity commitment_on_fixed']],
    [{ commitment_amount: '1' }, { subscription_committed: true }, ['commitment_amount commitment_on_both_levels']],
    [{ commitment_amount: '1', commitment_duration: 'ONETIME' }, {}, ['commitment_duration commitment_not_recurring']],
    [{ commitment_amount: '1', commitment_windowed: true }, {}, ['commitment_windowed commitment_without_windows']],
    [{ commitment_amount: '1', commitment_windowed: true, commitment_duration: 'DAILY' }, { windowed: true }, ['commitment_duration commitment_duration_of_window']],
]; // prettier-ignore

describe('refused on a line (6.1, 6.2)', () => {
  const problems = (commitment: LineCommitmentDefinition, line = USAGE as object, path?: string) =>
    refusalOf(() => validateLineCommitment(commitment, { ...USAGE, ...line }, path)).details.map(
      (detail) => `${detail.path} ${detail.code}`,
    );

  test.each(REFUSED)('%p on %p', (commitment, line, expected) => {
    expect(problems(commitment, line)).toEqual(expected);
  }); // prettier-ignore

  test('the refusal says in plain words what would be right', () => {
    const messages = new Set(
      REFUSED.flatMap(([commitment, line]) =>
        refusalOf(() => validateLineCommitment(commitment, { ...USAGE, ...line })).details.map(
          ({ code, message }) => `${code}: ${message}`,
        ),
      ),
    );
    expect([...messages].sort()).toEqual([
      'commitment_duration_of_window: cannot be set with commitment_windowed: the window is the bucket',
      'commitment_not_recurring: must recur',
      'commitment_of_both: and commitment_amount exclude each other',
      'commitment_on_both_levels: cannot be set beside a commitment of the subscription',
      'commitment_on_fixed: is for USAGE lines only',
      'commitment_type_mismatch: says amount, but commitment_quantity is given',
      'commitment_type_mismatch: says quantity, but commitment_amount is given',
      'commitment_value_required: needs commitment_amount or commitment_quantity',
      'commitment_without_windows: needs a bucket size on the price or its meter',
      'invalid_decimal: must be a decimal number such as "12.50"',
      'negative_commitment: must not be negative',
      'overage_factor_below_one: must be at least 1',
    ]);
  });

  test('every problem is named, below the path of the line', () => {
    const commitment = {
      commitment_amount: '1',
      commitment_quantity: '1',
      commitment_overage_factor: '0',
      commitment_windowed: true,
    };
    expect(problems(commitment, { type: 'FIXED' }, 'line_items[1]')).toEqual([
      'line_items[1].commitment_overage_factor overage_factor_below_one',
      'line_items[1].commitment_quantity commitment_of_both',
      'line_items[1].commitment_amount commitment_on_fixed',
      'line_items[1].commitment_windowed commitment_without_windows',
    ]);
  });
});

describe('a commitment of the subscription (6.1, 6.4)', () => {
  const cadence = (unit: BillingPeriod = 'MONTHLY', count = 1) => ({
    billing_period: unit,
    billing_period_count: count,
  });

  test.each<[SubscriptionCommitmentDefinition, ReturnType<typeof cadence>]>([
    [{}, cadence()],
    [{ commitment_amount: '100' }, cadence()],
    [{ commitment_amount: '0', overage_factor: '1' }, cadence()],
    [{ commitment_amount: 100, overage_factor: 1.5, commitment_duration: 'ANNUAL' }, cadence()],
    [{ commitment_amount: '100', commitment_duration: 'MONTHLY' }, cadence()],
    [{ commitment_amount: '100', commitment_duration: 'QUARTERLY' }, cadence('MONTHLY', 2)],
    [{ commitment_amount: '100', commitment_duration: 'ANNUAL' }, cadence('WEEKLY')],
    [{ commitment_amount: '100', commitment_duration: 'ANNUAL' }, cadence('MONTHLY', 12)],
  ])('%p every %p: accepted', (commitment, period) => {
    expect(validateSubscriptionCommitment(commitment, period)).toBeUndefined();
  });

  test.each<[SubscriptionCommitmentDefinition, ReturnType<typeof cadence>, string[]]>([
    [{ commitment_amount: '-1' }, cadence(), ['commitment_amount negative_commitment']],
    [{ overage_factor: '0.5' }, cadence(), ['overage_factor overage_factor_below_one']],
    [{ overage_factor: '0.5', commitment_amount: 'x' }, cadence(), ['commitment_amount invalid_decimal', 'overage_factor overage_factor_below_one']],
    [{ commitment_duration: 'ONETIME' }, cadence(), ['commitment_duration commitment_not_recurring']],
    [{ commitment_duration: 'WEEKLY' }, cadence(), ['commitment_duration commitment_term_too_short']],
    [{ commitment_duration: 'MONTHLY' }, cadence('MONTHLY', 2), ['commitment_duration commitment_term_too_short']],
    [{ commitment_duration: 'QUARTERLY' }, cadence('ANNUAL'), ['commitment_duration commitment_term_too_short']],
  ])('%p every %p: %p', (commitment, period, expected) => {
    const { details } = refusalOf(() => validateSubscriptionCommitment(commitment, period));
    expect(details.map(({ path, code }) => `${path} ${code}`)).toEqual(expected);
  }); // prettier-ignore
});

test('what is refused of a subscription says so in plain words', () => {
  const message = (commitment: SubscriptionCommitmentDefinition) =>
    refusalOf(() =>
      validateSubscriptionCommitment(commitment, {
        billing_period: 'MONTHLY',
        billing_period_count: 1,
      }),
    ).message;
  expect(message({ commitment_duration: 'ONETIME' })).toBe('commitment_duration: must recur');
  expect(message({ commitment_duration: 'DAILY' })).toBe(
    'commitment_duration: must not be shorter than the billing period',
  );
});

describe('how a commitment meets the charge periods of its line (6.2)', () => {
  test.each`
    windowed | duration       | charge              | reach
    ${true}  | ${null}        | ${['MONTHLY', 1]}   | ${'windows'}
    ${false} | ${null}        | ${['MONTHLY', 1]}   | ${'period'}
    ${false} | ${'MONTHLY'}   | ${['MONTHLY', 1]}   | ${'period'}
    ${false} | ${'QUARTERLY'} | ${['MONTHLY', 3]}   | ${'period'}
    ${false} | ${'ANNUAL'}    | ${['QUARTERLY', 4]} | ${'period'}
    ${false} | ${'WEEKLY'}    | ${['DAILY', 7]}     | ${'period'}
    ${false} | ${'DAILY'}     | ${['MONTHLY', 1]}   | ${'windows'}
    ${false} | ${'WEEKLY'}    | ${['MONTHLY', 1]}   | ${'windows'}
    ${false} | ${'MONTHLY'}   | ${['QUARTERLY', 1]} | ${'windows'}
    ${false} | ${'ANNUAL'}    | ${['MONTHLY', 1]}   | ${'term'}
    ${false} | ${'MONTHLY'}   | ${['WEEKLY', 1]}    | ${'term'}
    ${false} | ${'QUARTERLY'} | ${['MONTHLY', 2]}   | ${'term'}
  `('windowed $windowed, $duration on $charge: $reach', ({ windowed, duration, charge, reach }) => {
    const cadence = { billing_period: charge[0], billing_period_count: charge[1] };
    expect(commitmentReach({ windowed, duration }, cadence)).toBe(reach);
  });
});
