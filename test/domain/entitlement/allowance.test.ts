import {
  billableUsage,
  explainAllowance,
  shareAllowance,
  type AllowanceClaim,
  type AllowanceWindow,
} from '../../../domain/pricing/allowance.ts';
import { Decimal, decimalText } from '../../../domain/money.ts';
import { at, span } from '../pricing/lines.ts';

/** Claims as `line at usage`; the limit is that of the window unless the claim has its own. */
const window = (
  limit: string | null,
  claims: readonly string[],
  usedBefore = '0',
  days: readonly [string, string] = ['2026-01-01', '2026-02-01'],
): AllowanceWindow => ({
  ...span(...days),
  usedBefore: new Decimal(usedBefore),
  claims: claims.map((claim): AllowanceClaim => {
    const [line_id, start, usage, own] = claim.split(' ');
    const cap = own ?? limit;
    return {
      line_id: line_id!,
      at: at(start!),
      usage: new Decimal(usage!),
      limit: cap === null || cap === 'unlimited' ? null : new Decimal(cap),
    };
  }),
});
const billable = (...windows: AllowanceWindow[]) =>
  Object.fromEntries(
    [...shareAllowance('MONTHLY', windows)].map(([id, share]) => [
      id,
      decimalText(billableUsage(share)),
    ]),
  );
const free = (...windows: AllowanceWindow[]) =>
  Object.fromEntries(
    [...shareAllowance('MONTHLY', windows)].map(([id, share]) => [
      id,
      share.entries.map((entry) => decimalText(entry.free)),
    ]),
  );

describe('billable = max(0, usage − limit) in each window (4.1, 4.2)', () => {
  test.each`
    limit    | usage    | before   | expected
    ${'100'} | ${'135'} | ${'0'}   | ${'35'}
    ${'100'} | ${'100'} | ${'0'}   | ${'0'}
    ${'100'} | ${'99'}  | ${'0'}   | ${'0'}
    ${'0'}   | ${'7'}   | ${'0'}   | ${'7'}
    ${null}  | ${'7'}   | ${'0'}   | ${'0'}
    ${'100'} | ${'60'}  | ${'80'}  | ${'40'}
    ${'100'} | ${'10'}  | ${'140'} | ${'10'}
    ${'100'} | ${'10'}  | ${'90'}  | ${'0'}
    ${null}  | ${'7'}   | ${'999'} | ${'0'}
    ${'2.5'} | ${'3'}   | ${'0'}   | ${'0.5'}
    ${'100'} | ${'-5'}  | ${'0'}   | ${'0'}
    ${'20'}  | ${'50'}  | ${'-10'} | ${'20'}
  `('limit $limit, $before used before, $usage used: $expected', (row) => {
    const claims = [`line 2026-01-01 ${row.usage}`];
    expect(billable(window(row.limit, claims, row.before))).toEqual({ line: row.expected });
  });

  test('days of 80, 150, 100, 230 with 100 a day: 0 + 50 + 0 + 130', () => {
    const days = ['80', '150', '100', '230'].map((usage, index) =>
      window('100', [`line 2026-01-0${index + 1} ${usage}`]),
    );
    expect(billable(...days)).toEqual({ line: '180' });
    expect(free(...days)).toEqual({ line: ['80', '100', '100', '100'] });
  });

  test('months of 600, 700, 300 with 1000 for good: 0, 300, 300', () => {
    expect(billable(window('1000', ['line 2026-01-01 600']))).toEqual({ line: '0' });
    expect(billable(window('1000', ['line 2026-02-01 700'], '600'))).toEqual({ line: '300' });
    expect(billable(window('1000', ['line 2026-03-01 300'], '1300'))).toEqual({ line: '300' });
  });
});

describe('lines of one meter share one allowance (4.6)', () => {
  test('consumed in the order of time', () => {
    const claims = ['late 2026-01-15 80', 'early 2026-01-01 70'];
    expect(billable(window('100', claims))).toEqual({ early: '0', late: '50' });
  });

  test('at one time in the order of line ids', () => {
    const claims = ['b 2026-01-01 70', 'a 2026-01-01 80', 'c 2026-01-01 5'];
    expect(billable(window('100', claims))).toEqual({ a: '0', b: '50', c: '5' });
  });

  test('windows of several lines take turns', () => {
    const claims = ['b 2026-01-01 40', 'b 2026-01-02 40', 'a 2026-01-01 40', 'a 2026-01-02 40'];
    expect(free(window('100', claims))).toEqual({ a: ['40', '20'], b: ['40', '0'] });
  });

  test('the free units of all lines are never more than the limit', () => {
    const claims = ['a 2026-01-01 60', 'b 2026-01-01 60', 'c 2026-01-01 60'];
    const shares = shareAllowance('MONTHLY', [window('100', claims)]);
    const granted = [...shares.values()].flatMap((share) => share.entries.map(({ free: f }) => f));
    expect(Decimal.sum(...granted).toFixed()).toBe('100');
  });

  test('a correction lowers the counter for what comes after', () => {
    const claims = ['a 2026-01-01 90', 'a 2026-01-02 -30', 'a 2026-01-03 50'];
    expect(free(window('100', claims))).toEqual({ a: ['90', '0', '40'] });
  });

  test('a new limit in mid-window applies from then on; the counter continues', () => {
    const raised = ['old 2026-01-01 150 100', 'new 2026-01-15 80 200'];
    expect(billable(window(null, raised))).toEqual({ old: '50', new: '30' });
    const lowered = ['old 2026-01-01 60 100', 'new 2026-01-15 30 50'];
    expect(billable(window(null, lowered))).toEqual({ old: '0', new: '30' });
    const lifted = ['old 2026-01-01 150 100', 'new 2026-01-15 80 unlimited'];
    expect(billable(window(null, lifted))).toEqual({ old: '50', new: '0' });
  });

  test('no claims, no shares', () => {
    expect(shareAllowance('MONTHLY', []).size).toBe(0);
    expect(shareAllowance('MONTHLY', [window('100', [])]).size).toBe(0);
  });

  test('a negative limit is a bug', () => {
    expect(() => billable(window('-1', ['a 2026-01-01 1']))).toThrow('a negative limit');
  });
});

describe('the account of an allowance', () => {
  const share = shareAllowance('DAILY', [
    window('100', ['line 2026-01-01 80'], '0', ['2026-01-01', '2026-01-02']),
    window('100', ['line 2026-01-02 150'], '30', ['2026-01-02', '2026-01-03']),
    window(null, ['line 2026-01-03 5'], '0', ['2026-01-03', '2026-01-04']),
  ]).get('line')!;

  test('every window with what was used before, used, free and billable', () => {
    expect(explainAllowance(share, new Decimal(235), billableUsage(share), 100)).toEqual({
      step: 'allowance',
      rule: 'billing 4',
      usage_reset_period: 'DAILY',
      windows: [
        { ...span('2026-01-01', '2026-01-02'), at: at('2026-01-01'), limit: '100', used_before: '0', usage: '80', free: '80', billable: '0' },
        { ...span('2026-01-02', '2026-01-03'), at: at('2026-01-02'), limit: '100', used_before: '30', usage: '150', free: '70', billable: '80' },
        { ...span('2026-01-03', '2026-01-04'), at: at('2026-01-03'), limit: null, used_before: '0', usage: '5', free: '5', billable: '0' },
      ],
      omitted: null,
      free: '155',
      billable: '80',
    }); // prettier-ignore
  });

  test('of a long list the first are shown and the rest summed', () => {
    const account = explainAllowance(share, new Decimal(235), billableUsage(share), 1);
    expect(account.windows).toHaveLength(1);
    expect(account.omitted).toEqual({ count: 2, free: '75', billable: '80' });
    expect(explainAllowance(share, new Decimal(235), new Decimal(80), 2).omitted).toEqual({
      count: 1,
      free: '5',
      billable: '0',
    });
    expect(explainAllowance(share, new Decimal(235), new Decimal(80), 3).omitted).toBeNull();
  });

  test('free units are never below zero', () => {
    expect(explainAllowance(share, new Decimal(10), new Decimal(80), 100).free).toBe('0');
  });
});
