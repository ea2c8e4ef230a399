import { Decimal, decimalText, sum } from '../../../domain/money.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import {
  commitSubscription,
  subscriptionCommitmentTerms,
  type SubscriptionCommitmentScope,
} from '../../../domain/pricing/subscription-commitment.ts';
import { checked, figures, flat, JANUARY, span, step, usageLine, whole } from './lines.ts';

const terms = (amount: string, factor = '1.5', trueUp = false) =>
  subscriptionCommitmentTerms({
    commitment_amount: amount,
    overage_factor: factor,
    enable_true_up: trueUp,
    currency: 'usd',
  })!;
const period: SubscriptionCommitmentScope = { scope: 'period', share: null };
const used = (...amounts: string[]) =>
  amounts.map((amount) => usageLine({ price: flat('1'), rows: whole(amount) }));

const commit = (
  lines: readonly RatedLine[],
  commitment: ReturnType<typeof terms>,
  scope: SubscriptionCommitmentScope = period,
  currency = 'usd',
) => {
  const found = commitSubscription(lines, commitment, scope, JANUARY, currency);
  const rows = found.rows.flatMap(({ within, overage }) => [within, overage]);
  const all = [...rows, found.trueUp].filter((line) => line !== null).map(checked);
  return {
    ...found,
    text: all.map((line) => `${line.kind} ${figures(line)}`),
    total: decimalText(sum(all.map((line) => line.amount))),
  };
};

describe('the terms of a subscription', () => {
  test('active from an amount above 0, with any factor', () => {
    expect(terms('100', '1')).toEqual({
      amount: new Decimal(100),
      overageFactor: new Decimal(1),
      trueUpEnabled: false,
    });
  });
  test.each([
    [{ currency: 'usd' }],
    [{ currency: 'usd', commitment_amount: null }],
    [{ currency: 'usd', commitment_amount: '0', enable_true_up: true }],
  ])('%p is none', (fields) => expect(subscriptionCommitmentTerms(fields)).toBeNull());
  test('the factor defaults to 1 and true-up to off', () => {
    expect(subscriptionCommitmentTerms({ currency: 'usd', commitment_amount: '5' })).toEqual({
      amount: new Decimal(5),
      overageFactor: new Decimal(1),
      trueUpEnabled: false,
    });
  });
});

/** One third of each unit is within the commitment. */
const THIRDS = ['0.34', '0.33', '0.33'].flatMap((within, row) => [
  `base ${within} for 0.333333333333333`,
  `overage ${['0.67', '0.67', '0.66'][row]} for 0.666666666666667`,
]);

describe('usage of a subscription under its commitment (6.3)', () => {
  test.each`
    usage              | commitment                   | rows
    ${['150']}         | ${terms('100')}              | ${['base 100 for 100', 'overage 75 for 50']}
    ${['60']}          | ${terms('100', '1.5', true)} | ${['base 60 for 60', 'true_up 40 for 1']}
    ${['60']}          | ${terms('100')}              | ${['base 60 for 60']}
    ${['100']}         | ${terms('100', '2', true)}   | ${['base 100 for 100']}
    ${['150']}         | ${terms('100', '2')}         | ${['base 100 for 100', 'overage 100 for 50']}
    ${['60']}          | ${terms('100', '1', true)}   | ${['base 60 for 60', 'true_up 40 for 1']}
    ${['90', '60']}    | ${terms('100', '2')}         | ${['base 60 for 60', 'overage 60 for 30', 'base 40 for 40', 'overage 40 for 20']}
    ${['0', '0']}      | ${terms('100', '2', true)}   | ${['base 0 for 0', 'base 0 for 0', 'true_up 100 for 1']}
    ${[]}              | ${terms('100', '2', true)}   | ${['true_up 100 for 1']}
    ${[]}              | ${terms('100', '2')}         | ${[]}
    ${['1', '1', '1']} | ${terms('1', '1')}           | ${THIRDS}
  `('$usage used', ({ usage, commitment, rows }) => {
    expect(commit(used(...usage), commitment).text).toEqual(rows);
  });

  test('100 committed at price 3 with 50 units and factor 2 is 100 + 50 × 2, not floored to whole units', () => {
    const line = usageLine({ price: flat('3'), rows: whole('50') });
    expect(commit([line], terms('100', '2')).total).toBe('200');
  });

  test('the true-up is a row of the plan, without a service but the period', () => {
    const { trueUp } = commit(used('60'), terms('100', '1.5', true));
    expect(trueUp).toMatchObject({ kind: 'true_up', period: JANUARY, commitment_info: null });
    expect(trueUp!.adjusted_entitlement_quantity).toBeNull();
    expect(trueUp!.explanation.steps.map((entry) => entry.step)).toEqual([
      'pool',
      'commitment',
      'rounding',
    ]);
    expect(step(trueUp!, 'pool')).toMatchObject({ amounts: ['60'], index: null, amount: '60' });
    expect(trueUp!.unrounded.toFixed()).toBe('40');
  });

  test('a row without usage has no overage', () => {
    expect(commit(used('150', '0'), terms('100')).text).toEqual([
      'base 100 for 100',
      'overage 75 for 50',
      'base 0 for 0',
    ]);
  });

  test('the pool is of unrounded amounts; the rows still sum to the rounded charge', () => {
    const lines = ['0.014', '0.014', '0.014'].map((unit) =>
      usageLine({ price: flat(unit), rows: whole('1') }),
    );
    const found = commit(lines, terms('100'));
    expect(found.text).toEqual(['base 0.02 for 1', 'base 0.01 for 1', 'base 0.01 for 1']);
    expect(found.total).toBe('0.04');
    expect(found.baseUsage.toFixed()).toBe('0.042');
  });

  test('a row keeps its quantity, its free units and its unrounded charge', () => {
    const [line] = used('150');
    const row = commit([line!], terms('200')).rows[0]!.within;
    expect(row).toMatchObject({ quantity: line!.quantity, unrounded: line!.unrounded });
    expect(row.explanation.steps.map((entry) => entry.step)).toEqual([
      'usage',
      'rate',
      'pool',
      'commitment',
      'rounding',
      'share',
    ]);
    expect(step(row, 'share')).toMatchObject({ of: '150', weights: ['150'], index: 0 });
  });

  test('rows of other kinds are a bug', () => {
    const { overage } = commit(used('150'), terms('100')).rows[0]!;
    expect(() => commit([overage!], terms('100'))).toThrow('only usage rows are held');
  });

  test('yen are shared in yen', () => {
    const price = flat('1', { currency: 'jpy' });
    const lines = ['10', '10', '10'].map((units) => usageLine({ price, rows: whole(units) }));
    expect(commit(lines, terms('10', '1'), period, 'jpy').text).toEqual([
      'base 4 for 3.333333333333333',
      'overage 7 for 6.666666666666667',
      'base 3 for 3.333333333333333',
      'overage 7 for 6.666666666666667',
      'base 3 for 3.333333333333333',
      'overage 6 for 6.666666666666667',
    ]);
  });

  test('a stub asks for its share', () => {
    const half = { scope: 'period' as const, share: { part_ms: 1, whole_ms: 2 } };
    expect(commit(used('60'), terms('100', '2'), half).text).toEqual([
      'base 50 for 50',
      'overage 20 for 10',
    ]);
    const full = { scope: 'period' as const, share: { part_ms: 2, whole_ms: 2 } };
    const pool = step(commit(used('60'), terms('100', '2'), full).rows[0]!.within, 'commitment');
    expect(pool).toMatchObject({ rule: 'billing 6.3', share: null, commitment: '100' });
  });
});

describe('a commitment for a term of several periods (6.4)', () => {
  const month = (usage: string[], priorUsage: string, lastPeriod: boolean) =>
    commit(used(...usage), terms('12000', '1.2', true), {
      scope: 'term',
      position: {
        term: span('2026-01-01', '2027-01-01'),
        commitment: new Decimal(12000),
        priorUsage: new Decimal(priorUsage),
        lastPeriod,
      },
    });

  test('six months at 800 and four at 1500 are within; month 11 crosses, month 12 is beyond', () => {
    expect(month(['800'], '0', false).text).toEqual(['base 800 for 800']);
    expect(month(['1500'], '9300', false).text).toEqual(['base 1500 for 1500']);
    expect(month(['1500'], '10800', false).text).toEqual([
      'base 1200 for 1200',
      'overage 360 for 300',
    ]);
    expect(month(['400'], '12300', true).text).toEqual(['base 0 for 0', 'overage 480 for 400']);
  });

  test('twelve months at 700: true-up of 3600 on the twelfth invoice only', () => {
    expect(month(['700'], '7000', false).text).toEqual(['base 700 for 700']);
    expect(month(['700'], '7700', true).text).toEqual(['base 700 for 700', 'true_up 3600 for 1']);
  });

  test('what the period adds to the ledger is its usage before the factor', () => {
    expect(month(['1000', '500'], '10800', false).baseUsage.toFixed()).toBe('1500');
  });

  test('several rows share what is within by their own amounts', () => {
    expect(month(['1000', '500'], '10800', false).text).toEqual([
      'base 800 for 800',
      'overage 240 for 200',
      'base 400 for 400',
      'overage 120 for 100',
    ]);
  });
});
