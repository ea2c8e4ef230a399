import { explainText } from '../../../domain/pricing/explain-text.ts';
import { figuresOf } from '../../../domain/pricing/figures.ts';
import { examples } from './explained-examples.ts';

/** Figures for readers: short, marked when rounded, and never another figure. */

const usd = figuresOf(2, {});

test.each`
  exact                     | money                              | price                              | number
  ${'0'}                    | ${'0.00'}                          | ${'0.00'}                          | ${'0'}
  ${'5'}                    | ${'5.00'}                          | ${'5.00'}                          | ${'5'}
  ${'-5.5'}                 | ${'-5.50'}                         | ${'-5.50'}                         | ${'-5.5'}
  ${'3.333'}                | ${'3.333'}                         | ${'3.333'}                         | ${'3.333'}
  ${'1.0000004'}            | ${'≈1.00'}                         | ${'≈1.00'}                         | ${'≈1'}
  ${'0.3333333333333333'}   | ${'≈0.333333'}                     | ${'≈0.333333'}                     | ${'≈0.333333'}
  ${'0.0000025'}            | ${'≈0.000003'}                     | ${'0.0000025'}                     | ${'≈0.000003'}
  ${'0.000000123456789'}    | ${'≈0.00'}                         | ${'≈0.0000001235'}                 | ${'≈0'}
  ${'-0.0000001'}           | ${'≈0.00'}                         | ${'-0.0000001'}                    | ${'≈0'}
  ${'-1234567.1234'}        | ${'-1,234,567.1234'}               | ${'-1,234,567.1234'}               | ${'-1,234,567.1234'}
  ${'1234567.00000049'}     | ${'≈1,234,567.00'}                 | ${'≈1,234,567.00'}                 | ${'≈1,234,567'}
  ${'12345678901234567890'} | ${'12,345,678,901,234,567,890.00'} | ${'12,345,678,901,234,567,890.00'} | ${'12,345,678,901,234,567,890'}
`('$exact: money $money, price $price, number $number', ({ exact, money, price, number }) => {
  expect([usd.money(exact), usd.price(exact), usd.number(exact)]).toEqual([money, price, number]);
});

test.each([
  [0, '1250', '1,250'],
  [3, '1.5', '1.500'],
  [4, '1.5', '1.5000'],
  [8, '0.12345678', '0.12345678'],
])('money of %d minor digits: %s is %s', (digits, exact, money) => {
  expect(figuresOf(digits, {}).money(exact)).toBe(money);
});

test('no figure of an explained line has more than 6 decimals', () => {
  for (const { explanations } of examples())
    for (const explanation of explanations) {
      const text = explainText(explanation);
      expect(text).not.toMatch(/\d\.\d{7}/);
    }
});
