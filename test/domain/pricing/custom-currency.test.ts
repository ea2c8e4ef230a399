import { decimal, decimalText } from '../../../domain/money.ts';
import { convertLine } from '../../../domain/pricing/custom-currency.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { checked, fixed, fixedLine, flat, usageLine, whole } from './lines.ts';

const tokens = { code: 'tok', symbol: 'T' };
const line = (amount: string): RatedLine =>
  fixedLine({ price: fixed(amount, { currency: 'tok' }), currency: tokens });
const convert = (of: RatedLine, factor: string, fiat = 'usd') => {
  const converted = convertLine(of, tokens, factor, fiat);
  checked(converted.line);
  return converted;
};

describe('a custom currency becomes money row by row (2.6, money 12.5, 12.6)', () => {
  test.each`
    amount     | factor    | fiat     | money
    ${'1.23'}  | ${'0.5'}  | ${'usd'} | ${'0.62'}
    ${'1.23'}  | ${'0.5'}  | ${'jpy'} | ${'1'}
    ${'1.23'}  | ${'0.5'}  | ${'kwd'} | ${'0.615'}
    ${'100'}   | ${'0.01'} | ${'usd'} | ${'1'}
    ${'0'}     | ${'7'}    | ${'usd'} | ${'0'}
    ${'0.01'}  | ${'0.4'}  | ${'usd'} | ${'0'}
    ${'0.004'} | ${'1000'} | ${'usd'} | ${'0'}
  `('$amount at $factor: $money $fiat', ({ amount, factor, fiat, money }) => {
    const rated = line(amount);
    const { line: converted, custom_amount } = convert(rated, factor, fiat);
    expect(decimalText(converted.amount)).toBe(money);
    expect(custom_amount).toBe(rated.amount);
    expect(converted).toMatchObject({
      kind: 'base',
      period: rated.period,
      quantity: rated.quantity,
    });
    expect(converted.explanation.currency).toBe(fiat);
    expect(converted.explanation.steps.at(-1)).toMatchObject({
      step: 'conversion',
      from_currency: 'tok',
      to_currency: fiat,
      from_amount: decimalText(rated.amount),
      factor,
      amount: money,
    });
    expect(converted.unrounded.eq(rated.amount.times(factor))).toBe(true);
    expect(converted.commitment_info).toBeNull();
  });

  test('rows are rounded before they are added, so the sums need not be proportional', () => {
    const rows = ['0.33', '0.33', '0.33'].map((amount) => convert(line(amount), '0.5').line.amount);
    expect(rows.map(decimalText)).toEqual(['0.17', '0.17', '0.17']);
    expect(decimalText(convert(line('0.99'), '0.5').line.amount)).toBe('0.5');
  });

  test('the parts of a commitment are converted and still sum to the amount', () => {
    const rated = usageLine({
      price: flat('1', { currency: 'tok' }),
      rows: whole('133.33'),
      line: { commitment_amount: '100', commitment_overage_factor: '1.5' },
      currency: tokens,
    });
    const { line: converted } = convert(rated, '0.333');
    const info = converted.commitment_info!;
    expect(info).toMatchObject({
      amount: '33.3',
      overage_factor: '1.5',
      computed_commitment_utilized_amount: '33.3',
      computed_overage_amount: '16.65',
      computed_true_up_amount: '0',
    });
    const parts = decimal(info.computed_commitment_utilized_amount)
      .plus(info.computed_overage_amount)
      .plus(info.computed_true_up_amount);
    expect(parts.eq(converted.amount)).toBe(true);
  });

  test('a true-up that rounds up gives way to the amount', () => {
    const rated = usageLine({
      price: flat('1', { currency: 'tok' }),
      rows: whole('0.01'),
      line: { commitment_amount: '0.02', commitment_true_up_enabled: true },
      currency: tokens,
    });
    const info = convert(rated, '0.7').line.commitment_info!;
    expect([info.computed_commitment_utilized_amount, info.computed_true_up_amount]).toEqual([
      '0',
      '0.01',
    ]);
  });

  test('a factor of 0 is a bug', () => {
    expect(() => convertLine(line('1'), tokens, '0', 'usd')).toThrow('factor of 0 or less');
    expect(() => convertLine(line('1'), tokens, '-1', 'usd')).toThrow('factor of 0 or less');
  });
});
