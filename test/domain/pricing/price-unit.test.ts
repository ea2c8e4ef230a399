import { Decimal } from '../../../domain/money.ts';
import { convertPriceUnit, priceUnitAmount } from '../../../domain/pricing/price-unit.ts';
import { refusalOf } from '../../support/refusal.ts';
import { flat, usageLine, whole } from './lines.ts';

const rate = (text: string) => new Decimal(text);

describe('terms in a pricing unit become money at the rate of the unit (2.6, money 12.1, 12.2)', () => {
  test.each`
    units                     | conversion  | amount
    ${'250'}                  | ${'0.01'}   | ${'2.5'}
    ${'100.5'}                | ${'0.3333'} | ${'33.49665'}
    ${'0.333'}                | ${'0.01'}   | ${'0.00333'}
    ${'0'}                    | ${'2'}      | ${'0'}
    ${12.5}                   | ${'2'}      | ${'25'}
    ${'0.000000000000000001'} | ${'0.5'}    | ${'0.000000000000000001'}
    ${'0.000000000000000001'} | ${'0.4'}    | ${'0'}
  `('$units units at $conversion: $amount', ({ units, conversion, amount }) => {
    expect(convertPriceUnit({ price_unit: 'tok', amount: units }, rate(conversion))).toEqual({
      amount,
      tiers: null,
    });
  });

  test('tier by tier, without rounding to cents', () => {
    const config = {
      price_unit: 'tok',
      price_unit_tiers: [
        { up_to: 10, unit_amount: '5', flat_amount: '1' },
        { unit_amount: '0.333', flat_amount: null },
        { up_to: null, unit_amount: '3', flat_amount: '0' },
      ],
    };
    expect(convertPriceUnit(config, rate('0.01'))).toEqual({
      amount: null,
      tiers: [
        { up_to: 10, unit_amount: '0.05', flat_amount: '0.01' },
        { up_to: null, unit_amount: '0.00333', flat_amount: null },
        { up_to: null, unit_amount: '0.03', flat_amount: '0' },
      ],
    });
  });

  test('what is too large to be kept as money is refused', () => {
    const config = { price_unit: 'tok', amount: '2', price_unit_tiers: [{ unit_amount: '2' }] };
    const refused = (terms: typeof config | Omit<typeof config, 'amount'>) =>
      refusalOf(() => convertPriceUnit(terms, rate('99999999999999999999'))).details[0]!.path;
    expect(refused(config)).toBe('price_unit_config.amount');
    const { amount: _, ...tiered } = config;
    expect(refused(tiered)).toBe('price_unit_config.price_unit_tiers[0].unit_amount');
  });

  test('without amount and tiers both are null', () => {
    expect(convertPriceUnit({ price_unit: 'tok' }, rate('1'))).toEqual({
      amount: null,
      tiers: null,
    });
  });

  test('text that is not a number is refused, a rate of 0 is a bug', () => {
    const bad = { price_unit: 'tok', amount: 'many' };
    expect(refusalOf(() => convertPriceUnit(bad, rate('1'))).details[0]!.path).toBe('amount');
    for (const field of ['unit_amount', 'flat_amount']) {
      const tier = { unit_amount: '1', flat_amount: '1', [field]: 'many' };
      const tiers = { price_unit: 'tok', price_unit_tiers: [tier] };
      expect(refusalOf(() => convertPriceUnit(tiers, rate('1'))).details[0]!.path).toBe(field);
    }
    for (const zero of ['0', '-1']) {
      expect(() => convertPriceUnit({ price_unit: 'tok', amount: '1' }, rate(zero))).toThrow(
        'a conversion rate of 0 or less',
      );
      expect(() => priceUnitAmount(rate('1'), rate(zero), 'usd')).toThrow('of 0 or less');
    }
  });

  test('3 units at 0.333 of a rate of 0.01 are a line of 0.01, not of 3 times nothing', () => {
    const { amount } = convertPriceUnit({ price_unit: 'tok', amount: '0.333' }, rate('0.01'));
    const line = usageLine({ price: flat(amount!), rows: whole('3') });
    expect(line.unrounded.toFixed()).toBe('0.00999');
    expect(line.amount.toFixed()).toBe('0.01');
  });

  test.each`
    amount    | conversion | precision | units
    ${'0.01'} | ${'0.01'}  | ${2}      | ${'1'}
    ${'10'}   | ${'3'}     | ${2}      | ${'3.33'}
    ${'10'}   | ${'3'}     | ${0}      | ${'3'}
    ${'5'}    | ${'0.3'}   | ${null}   | ${'16.67'}
    ${'-5'}   | ${'0.3'}   | ${2}      | ${'-16.67'}
  `(
    'a row of $amount at $conversion is $units units',
    ({ amount, conversion, precision, units }) => {
      const unit = { code: 'tok', symbol: 'T', precision };
      expect(priceUnitAmount(rate(amount), rate(conversion), unit).toFixed()).toBe(units);
    },
  );
});
