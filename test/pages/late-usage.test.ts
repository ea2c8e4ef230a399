import type { LateUsageLine } from '../../schemas/late-usage.ts';
import { outstandingOf, reasonOf } from '../../web/pages/late-usage/late-usage.ts';

const line = (usage_difference: string | null, amount_difference: string): LateUsageLine =>
  ({ usage_difference, amount_difference }) as LateUsageLine;

describe('late usage in words', () => {
  test.each([
    ['20', '9', '20 arrived later'],
    ['-5.5', '-2.25', '5.5 withdrawn later'],
    ['20', '0', '20 arrived later, for the same amount'],
    [null, '-4', 'Follows from the usage of other rows'],
    ['0', '-4', 'Follows from the usage of other rows'],
  ])('usage %s and amount %s: %s', (usage, amount, words) => {
    expect(reasonOf(line(usage, amount))).toBe(words);
  });
});

describe('what is outstanding', () => {
  test.each([
    [[], '0', '0'],
    [['9', '-2.25', '0', '0.1', '0.2'], '9.3', '2.25'],
    [['-0.1', '-0.2'], '0', '0.3'],
  ])('%j: charge %s, credit %s', (amounts, charge, credit) => {
    const rows = (amounts as string[]).map((outstanding_amount) => ({ outstanding_amount }));
    expect(outstandingOf(rows)).toEqual({ charge, credit });
  });
});
