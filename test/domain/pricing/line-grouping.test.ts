import { shareAllowance } from '../../../domain/pricing/allowance.ts';
import { Decimal, decimalText, sum } from '../../../domain/money.ts';
import { groupLines } from '../../../domain/pricing/line-grouping.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import {
  cellOf,
  checked,
  figures,
  fixed,
  fixedLine,
  flat,
  slab,
  span,
  usageLine,
  usageLines,
  whole,
} from './lines.ts';

const months = [
  span('2026-01-01', '2026-02-01'),
  span('2026-02-01', '2026-03-01'),
  span('2026-03-01', '2026-04-01'),
];
const totalOf = (lines: readonly RatedLine[]) => decimalText(sum(lines.map((line) => line.amount)));

describe('a monthly price on a quarterly subscription (3.3)', () => {
  const fees = months.map((month) => fixedLine({ price: fixed('33.335'), cell: cellOf(month) }));

  test('per_charge_period: one row for each cell', () => {
    expect(groupLines(fees, 'per_charge_period')).toEqual(fees);
  });

  test('per_billing_period: one row whose amount is the sum of the rounded cells', () => {
    const [merged, ...rest] = groupLines(fees, 'per_billing_period').map(checked);
    expect(rest).toEqual([]);
    expect(figures(merged!)).toBe('100.02 for 3');
    expect(merged!.period).toEqual(span('2026-01-01', '2026-04-01'));
    expect(merged!.kind).toBe('base');
    expect(decimalText(merged!.unrounded)).toBe('100.005');
  });

  test('the total is equal either way', () => {
    expect(totalOf(groupLines(fees, 'per_billing_period'))).toBe(
      totalOf(groupLines(fees, 'per_charge_period')),
    );
  });

  test('the order of the cells does not matter', () => {
    const [merged] = groupLines(fees.toReversed(), 'per_billing_period');
    expect(merged!.period).toEqual(span('2026-01-01', '2026-04-01'));
    const [sumStep] = merged!.explanation.steps;
    expect(sumStep).toMatchObject({
      step: 'sum',
      rule: 'billing 3.3',
      parts: months.map((period) => ({ period, quantity: '1', amount: '33.34' })),
    });
  });

  test('one cell stays as it is', () => {
    const [only] = fees;
    expect(groupLines([only!], 'per_billing_period')).toEqual([only]);
    expect(groupLines([], 'per_billing_period')).toEqual([]);
  });
});

test('tiers restart in each cell, merged or not: 15 units a month at 1 to 10, then 2', () => {
  const lines = months.map((month) =>
    usageLine({ price: slab('10 1', '- 2'), rows: whole('15'), cell: cellOf(month) }),
  );
  const [merged] = groupLines(lines, 'per_billing_period').map(checked);
  expect(figures(merged!)).toBe('60 for 45');
});

test('free units add up; a cell without an entitlement adds none', () => {
  const share = (month: (typeof months)[number], usage: string) => {
    const claim = {
      line_id: 'line',
      at: month.start,
      usage: new Decimal(usage),
      limit: new Decimal(10),
    };
    const window = { ...month, usedBefore: new Decimal(0), claims: [claim] };
    return shareAllowance('MONTHLY', [window]).get('line')!;
  };
  const line = (month: (typeof months)[number], usage: string, entitled: boolean) =>
    usageLine({
      price: flat('1'),
      rows: whole(usage),
      cell: cellOf(month),
      allowance: entitled ? share(month, usage) : null,
    });
  const [merged] = groupLines(
    [line(months[0]!, '15', true), line(months[1]!, '4', true), line(months[2]!, '3', false)],
    'per_billing_period',
  ).map(checked);
  expect(figures(merged!)).toBe('8 for 8');
  expect(merged!.adjusted_entitlement_quantity).toEqual(new Decimal(14));
  const [bare] = groupLines(
    months.map((month) => line(month, '2', false)),
    'per_billing_period',
  );
  expect(bare!.adjusted_entitlement_quantity).toBeNull();
  expect(bare!.commitment_info).toBeNull();
});

test('the computed figures of commitments add up, and still sum to the amount', () => {
  const usage = ['140', '60', '100'];
  const lines = months.map((month, index) =>
    usageLine({
      price: flat('1'),
      rows: whole(usage[index]!),
      cell: cellOf(month),
      line: {
        commitment_amount: '100',
        commitment_overage_factor: '1.5',
        commitment_true_up_enabled: true,
      },
    }),
  );
  const [merged] = groupLines(lines, 'per_billing_period').map(checked);
  expect(merged!.commitment_info).toMatchObject({
    amount: '100',
    computed_commitment_utilized_amount: '260',
    computed_overage_amount: '60',
    computed_true_up_amount: '40',
  });
  expect(figures(merged!)).toBe('360 for 300');
});

test('overage and true-up of a term are not merged', () => {
  const term = span('2026-01-01', '2027-01-01');
  const month = (index: number, usage: string, prior: string) =>
    usageLines({
      price: flat('1'),
      rows: whole(usage),
      cell: cellOf(months[index]!),
      line: { commitment_amount: '100', commitment_overage_factor: '2' },
      commitment: {
        scope: 'term',
        position: {
          term,
          commitment: new Decimal(100),
          priorUsage: new Decimal(prior),
          lastPeriod: false,
        },
      },
    });
  const lines = [...month(0, '90', '0'), ...month(1, '30', '90'), ...month(2, '5', '120')];
  const grouped = groupLines(lines, 'per_billing_period').map(checked);
  expect(grouped.map((line) => `${line.kind} ${figures(line)}`)).toEqual([
    'base 100 for 125',
    'overage 40 for 1',
    'overage 10 for 1',
  ]);
  expect(totalOf(grouped)).toBe(totalOf(lines));
});

test('rows of several currencies are a bug', () => {
  const lines = [
    fixedLine({ price: fixed('1'), cell: cellOf(months[0]!) }),
    fixedLine({ price: fixed('1', { currency: 'eur' }), cell: cellOf(months[1]!) }),
  ];
  expect(() => groupLines(lines, 'per_billing_period')).toThrow('rows of several currencies');
});
