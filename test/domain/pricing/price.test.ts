import { Decimal } from '../../../domain/money.ts';
import {
  explainModel,
  explainRate,
  explainRating,
  explainRounding,
  roundLine,
} from '../../../domain/pricing/explain.ts';
import { priceTerms, type PriceRecord } from '../../../domain/pricing/price.ts';
import { problems, readDecimal, refusal } from '../../../domain/pricing/problems.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { refusalOf } from '../../support/refusal.ts';
import { flat, pack, slab } from './lines.ts';

const dec = (text: string) => new Decimal(text);
const record = (more: Partial<PriceRecord> = {}): PriceRecord => ({
  id: 'price_1',
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  currency: 'eur',
  amount: '10.50',
  ...more,
});

describe('the terms of a stored price', () => {
  test('a flat fee', () => {
    expect(priceTerms(record())).toEqual({
      id: 'price_1',
      type: 'FIXED',
      currency: 'eur',
      model: { kind: 'FLAT_FEE', unitAmount: dec('10.5') },
      minQuantity: null,
      bucketSize: null,
    });
  });

  test('with a minimum and a bucket', () => {
    expect(priceTerms(record({ min_quantity: '5', bucket_size: 'DAY' }))).toMatchObject({
      minQuantity: dec('5'),
      bucketSize: 'DAY',
    });
  });

  test('a package rounds up unless it says down', () => {
    const size = (round?: 'up' | 'down' | null) =>
      priceTerms(
        record({ billing_model: 'PACKAGE', transform_quantity: { divide_by: 100, round } }),
      ).model;
    expect(size()).toEqual({
      kind: 'PACKAGE',
      packageAmount: dec('10.5'),
      divideBy: dec('100'),
      round: 'up',
    });
    expect(size('down')).toMatchObject({ round: 'down' });
    expect(size(null)).toMatchObject({ round: 'up' });
  });

  test('tiers rise, and the last one is open', () => {
    const { model } = priceTerms(
      record({
        billing_model: 'TIERED',
        amount: '0',
        tier_mode: 'VOLUME',
        tiers: [
          { up_to: null, unit_amount: '3' },
          { up_to: 20, unit_amount: '2', flat_amount: null },
          { up_to: '10', unit_amount: '1', flat_amount: '4' },
        ],
      }),
    );
    expect(model).toEqual({
      kind: 'TIERED',
      mode: 'VOLUME',
      tiers: [
        { upTo: dec('10'), unitAmount: dec('1'), flatAmount: dec('4') },
        { upTo: dec('20'), unitAmount: dec('2'), flatAmount: dec('0') },
        { upTo: null, unitAmount: dec('3'), flatAmount: dec('0') },
      ],
    });
  });

  test('of bounded tiers the highest counts as open', () => {
    const { model } = priceTerms(
      record({
        billing_model: 'TIERED',
        tier_mode: 'SLAB',
        tiers: [
          { up_to: 30, unit_amount: '3' },
          { up_to: 9, unit_amount: '1' },
        ],
      }),
    );
    expect(model).toMatchObject({
      tiers: [{ upTo: dec('9') }, { upTo: null, unitAmount: dec('3') }],
    });
  });
});

describe('the account of a price and of one quantity', () => {
  test.each([
    [flat('0.10'), { billing_model: 'FLAT_FEE', unit_amount: '0.1' }],
    [
      pack('5', 100),
      { billing_model: 'PACKAGE', package_amount: '5', divide_by: '100', round: 'up' },
    ],
    [
      slab('10 1 2', '- 0.5'),
      {
        billing_model: 'TIERED',
        tier_mode: 'SLAB',
        tiers: [
          { up_to: '10', unit_amount: '1', flat_amount: '2' },
          { up_to: null, unit_amount: '0.5', flat_amount: '0' },
        ],
      },
    ],
  ])('%#', (terms, model) => expect(explainModel(terms.model)).toEqual(model));

  test('tiers count from 1 and say where they begin', () => {
    const { model } = slab('10 1 2', '- 0.5');
    expect(explainRating(rate(model, dec('11')))).toEqual({
      window_start: null,
      group: [],
      quantity: '11',
      packages: null,
      tiers: [
        { tier: 1, above: '0', up_to: '10', quantity: '10', unit_amount: '1', flat_amount: '2', amount: '12' },
        { tier: 2, above: '10', up_to: null, quantity: '1', unit_amount: '0.5', flat_amount: '0', amount: '0.5' },
      ],
      amount: '12.5',
    }); // prettier-ignore
  });

  test('packages, and the window and group they belong to', () => {
    const rating = rate(pack('5', 100).model, dec('250'));
    expect(explainRating(rating, '2026-01-01T00:00:00.000Z', ['eu', 'large'])).toEqual({
      window_start: '2026-01-01T00:00:00.000Z',
      group: ['eu', 'large'],
      quantity: '250',
      packages: '3',
      tiers: null,
      amount: '15',
    });
  });

  test('one quantity priced by itself', () => {
    const { model } = flat('2');
    expect(explainRate(model, rate(model, dec('3')))).toMatchObject({
      step: 'rate',
      rule: 'billing 2.2',
      omitted: null,
      quantity: '3',
      amount: '6',
    });
  });

  test('a rounding', () => {
    expect(roundLine(dec('0.005'), 'usd')).toEqual({
      amount: dec('0.01'),
      step: {
        step: 'rounding',
        rule: 'billing 0.2',
        unrounded: '0.005',
        currency: 'usd',
        decimals: 2,
        parts: null,
        bills: 'charge',
        amount: '0.01',
      },
    });
    const tokens = { code: 'tok', symbol: 'T', precision: 4 };
    expect(explainRounding(dec('1.00004'), dec('1'), tokens)).toMatchObject({
      currency: 'tok',
      decimals: 4,
      unrounded: '1.00004',
      amount: '1',
    });
  });
});

describe('problems', () => {
  test('none, no refusal', () => {
    expect(problems().refuse()).toBeUndefined();
  });

  test('all of them in one refusal, in their order', () => {
    const found = problems();
    found.add('a', 'first', 'is wrong');
    found.add('b[0]', 'second', 'is wrong too');
    expect(refusalOf(() => found.refuse())).toMatchObject({
      kind: 'invalid',
      code: 'validation_error',
      message: 'a: is wrong',
      details: [
        { path: 'a', code: 'first', message: 'is wrong' },
        { path: 'b[0]', code: 'second', message: 'is wrong too' },
      ],
    });
  });

  test('a single one', () => {
    expect(refusal('field', 'some_code', 'must be right')).toMatchObject({
      kind: 'invalid',
      code: 'validation_error',
      message: 'field: must be right',
      details: [{ path: 'field', code: 'some_code', message: 'must be right' }],
    });
  });

  test('a number is read, or noted as none', () => {
    const found = problems();
    expect(readDecimal('1.50', 'a', found)).toEqual(dec('1.5'));
    expect(readDecimal(2, 'a', found)).toEqual(dec('2'));
    expect(found.refuse()).toBeUndefined();
    expect(readDecimal('1e3', 'tiers[2].unit_amount', found)).toBeNull();
    expect(refusalOf(() => found.refuse()).details).toMatchObject([
      { path: 'tiers[2].unit_amount', code: 'invalid_decimal' },
    ]);
  });
});
