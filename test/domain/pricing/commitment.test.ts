import { Decimal, decimalText } from '../../../domain/money.ts';
import {
  addOutcomes,
  applyCommitment,
  commitmentInfo,
  commitmentTerms,
  explainCommitmentRounding,
  partOf,
  roundCommitment,
  type CommitmentOutcome,
} from '../../../domain/pricing/commitment.ts';

const dec = (text: string) => new Decimal(text);
const held = (usage: string, commitment = '1000', factor = '1.5', trueUp = true) =>
  applyCommitment(dec(usage), dec(commitment), dec(factor), trueUp);
const parts = ({
  charge,
  utilized,
  overage,
  trueUp,
}: Omit<CommitmentOutcome, 'usage' | 'commitment'>) =>
  [charge, utilized, overage, trueUp].map(decimalText).join(' ');

describe('U against C with factor f: charge, utilized, overage, true-up (6.1)', () => {
  test.each`
    usage        | commitment | factor   | trueUp   | expected
    ${'1400'}    | ${'1000'}  | ${'1.5'} | ${true}  | ${'1600 1000 600 0'}
    ${'1400'}    | ${'1000'}  | ${'1'}   | ${true}  | ${'1400 1000 400 0'}
    ${'1000'}    | ${'1000'}  | ${'1.5'} | ${true}  | ${'1000 1000 0 0'}
    ${'1000.01'} | ${'1000'}  | ${'2'}   | ${true}  | ${'1000.02 1000 0.02 0'}
    ${'999.99'}  | ${'1000'}  | ${'2'}   | ${true}  | ${'1000 999.99 0 0.01'}
    ${'999.99'}  | ${'1000'}  | ${'2'}   | ${false} | ${'999.99 999.99 0 0'}
    ${'700'}     | ${'1000'}  | ${'1.5'} | ${true}  | ${'1000 700 0 300'}
    ${'700'}     | ${'1000'}  | ${'1.5'} | ${false} | ${'700 700 0 0'}
    ${'0'}       | ${'1000'}  | ${'1.5'} | ${true}  | ${'1000 0 0 1000'}
    ${'0'}       | ${'1000'}  | ${'1.5'} | ${false} | ${'0 0 0 0'}
    ${'50'}      | ${'0'}     | ${'3'}   | ${true}  | ${'150 0 150 0'}
    ${'0'}       | ${'0'}     | ${'3'}   | ${true}  | ${'0 0 0 0'}
    ${'30'}      | ${'20'}    | ${'1.5'} | ${false} | ${'35 20 15 0'}
  `('U $usage, C $commitment, f $factor, true-up $trueUp', (row) => {
    const outcome = held(row.usage, row.commitment, row.factor, row.trueUp);
    expect(parts(outcome)).toBe(row.expected);
    expect(outcome.usage.toFixed()).toBe(row.usage);
    expect(outcome.commitment.toFixed()).toBe(row.commitment);
  });

  test('what cannot be is a bug', () => {
    expect(() => held('-1')).toThrow('a negative usage or commitment');
    expect(() => held('1', '-1')).toThrow('a negative usage or commitment');
    expect(() => held('1', '1', '0.999')).toThrow('an overage factor below 1');
  });
});

describe('the terms of a line item', () => {
  test('an amount', () => {
    expect(
      commitmentTerms({ commitment_amount: '100', commitment_overage_factor: '1.20' }),
    ).toEqual({
      type: 'amount',
      value: dec('100'),
      overageFactor: dec('1.2'),
      trueUpEnabled: false,
      windowed: false,
      duration: null,
    });
  });

  test('a quantity, with everything', () => {
    expect(
      commitmentTerms({
        commitment_amount: '0',
        commitment_quantity: '50',
        commitment_type: 'quantity',
        commitment_duration: 'ANNUAL',
        commitment_overage_factor: null,
        commitment_true_up_enabled: true,
        commitment_windowed: true,
      }),
    ).toEqual({
      type: 'quantity',
      value: dec('50'),
      overageFactor: dec('1'),
      trueUpEnabled: true,
      windowed: true,
      duration: 'ANNUAL',
    });
  });

  test.each([
    [{}],
    [{ commitment_amount: null, commitment_quantity: null }],
    [{ commitment_amount: '0' }],
    [{ commitment_quantity: '0', commitment_true_up_enabled: true }],
  ])('%p is none', (fields) => {
    expect(commitmentTerms(fields)).toBeNull();
  });

  test('what validation refuses is a bug', () => {
    const both = { commitment_amount: '1', commitment_quantity: '1' };
    expect(() => commitmentTerms(both)).toThrow('of both amount and quantity');
    const cheap = { commitment_amount: '1', commitment_overage_factor: '0.5' };
    expect(() => commitmentTerms(cheap)).toThrow('an overage factor below 1');
    expect(() => commitmentTerms({ commitment_amount: '-1' })).toThrow('a negative commitment');
  });
});

describe('windows add up figure by figure (6.5)', () => {
  test('of none is nothing', () => {
    expect(parts(addOutcomes([]))).toBe('0 0 0 0');
  });
  test('of one is itself', () => {
    expect(addOutcomes([held('1400')])).toEqual(held('1400'));
  });
  test('of two', () => {
    const sum = addOutcomes([held('1400'), held('700')]);
    expect(parts(sum)).toBe('2600 1700 600 300');
    expect([sum.usage, sum.commitment].map(decimalText)).toEqual(['2100', '2000']);
  });
});

describe('rounding keeps the parts summing to the charge (6.1)', () => {
  const outcome = (utilized: string, overage: string, trueUp: string): CommitmentOutcome => {
    const charge = dec(utilized).plus(overage).plus(trueUp);
    const usage = dec(utilized).plus(overage);
    return {
      usage,
      commitment: dec(utilized).plus(trueUp),
      utilized: dec(utilized),
      overage: dec(overage),
      trueUp: dec(trueUp),
      charge,
    };
  };
  test.each`
    utilized    | overage     | trueUp      | currency | expected
    ${'1000'}   | ${'600'}    | ${'0'}      | ${'usd'} | ${'1600 1000 600 0'}
    ${'9.997'}  | ${'0'}      | ${'0.003'}  | ${'usd'} | ${'10 10 0 0'}
    ${'8500.5'} | ${'0'}      | ${'1499.5'} | ${'jpy'} | ${'10000 8500 0 1500'}
    ${'0.005'}  | ${'0.005'}  | ${'0'}      | ${'usd'} | ${'0.01 0 0.01 0'}
    ${'0.004'}  | ${'0.004'}  | ${'0'}      | ${'usd'} | ${'0.01 0.01 0 0'}
    ${'0.001'}  | ${'0.005'}  | ${'0.005'}  | ${'usd'} | ${'0.01 0 0.01 0'}
    ${'0'}      | ${'0.006'}  | ${'0.006'}  | ${'usd'} | ${'0.01 0 0.01 0'}
    ${'0.001'}  | ${'0.001'}  | ${'0.001'}  | ${'usd'} | ${'0 0 0 0'}
    ${'10.004'} | ${'5.004'}  | ${'0'}      | ${'usd'} | ${'15.01 10.01 5 0'}
    ${'1'}      | ${'0.0005'} | ${'0'}      | ${'kwd'} | ${'1.001 1 0.001 0'}
  `('$utilized + $overage + $trueUp in $currency', (row) => {
    const rounded = roundCommitment(outcome(row.utilized, row.overage, row.trueUp), row.currency);
    expect(parts(rounded)).toBe(row.expected);
  });

  test('the account names the parts, and the one that the row bills', () => {
    const given = outcome('8500.5', '0', '1499.5');
    const rounded = roundCommitment(given, 'jpy');
    expect(explainCommitmentRounding(given, rounded, 'true_up', 'jpy')).toEqual({
      step: 'rounding',
      rule: 'billing 6.1',
      unrounded: '10000',
      currency: 'jpy',
      decimals: 0,
      parts: { charge: '10000', utilized: '8500', overage: '0', true_up: '1500' },
      bills: 'true_up',
      amount: '1500',
    });
    const bills = (part: Parameters<typeof partOf>[1]) => partOf(rounded, part).toFixed();
    expect([bills('charge'), bills('utilized'), bills('overage'), bills('true_up')]).toEqual([
      '10000',
      '8500',
      '0',
      '1500',
    ]);
  });
});

test('commitment_info of a quantity: C as money beside the units (6.5)', () => {
  const terms = commitmentTerms({ commitment_quantity: '50', commitment_windowed: true })!;
  const computed = { utilized: dec('1'), overage: dec('2.50'), trueUp: dec('0') };
  expect(commitmentInfo(terms, dec('150'), computed)).toEqual({
    type: 'quantity',
    amount: '150',
    quantity: '50',
    duration: null,
    is_windowed: true,
    overage_factor: '1',
    true_up_enabled: false,
    computed_commitment_utilized_amount: '1',
    computed_overage_amount: '2.5',
    computed_true_up_amount: '0',
  });
});
