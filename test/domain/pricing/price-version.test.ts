import {
  endPrice,
  planPriceEdit,
  type PriceEdit,
  type VersionedPrice,
} from '../../../domain/pricing/price-version.ts';
import { validatePrice } from '../../../domain/pricing/validate-price.ts';
import { refusalOf } from '../../support/refusal.ts';
import { at } from './lines.ts';

const NOW = at('2026-03-01T12:00');
const price = (fields: Partial<VersionedPrice> = {}): VersionedPrice => ({
  id: 'price_2',
  parent_price_id: 'price_1',
  status: 'published',
  entity_type: 'PLAN',
  entity_id: 'plan_1',
  type: 'USAGE',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  invoice_cadence: 'ARREAR',
  currency: 'usd',
  amount: '10.5',
  tier_mode: null,
  tiers: null,
  transform_quantity: { divide_by: 1 },
  min_quantity: null,
  bucket_size: null,
  price_unit_type: 'FIAT',
  price_unit: null,
  price_unit_amount: null,
  price_unit_tiers: null,
  meter_id: 'meter_1',
  filter_values: { region: ['eu'] },
  trial_period: null,
  start_date: at('2026-01-01'),
  end_date: null,
  ...fields,
});
const tiers = [
  { up_to: 10, unit_amount: '1' },
  { up_to: null, unit_amount: '2', flat_amount: '3' },
];
const tieredPrice = price({ billing_model: 'TIERED', amount: '0', tier_mode: 'SLAB', tiers });
const customPrice = price({
  price_unit_type: 'CUSTOM',
  price_unit: 'tok',
  price_unit_amount: '100',
  amount: '1',
});

const plan = (edit: PriceEdit, of = price()) => planPriceEdit(of, edit, NOW);
const version = (edit: PriceEdit, of = price()) => {
  const found = plan(edit, of);
  if (found.kind !== 'new_version') throw new Error('changed in place');
  return found;
};
const refused = (edit: object, of = price()) => {
  const refusal = refusalOf(() => plan(edit as PriceEdit, of));
  return [refusal.code, ...refusal.details.map(({ path, code }) => `${path} ${code}`)];
};

describe('a change of terms makes a new version (2.7)', () => {
  test('the old price ends where the new one starts, by default now', () => {
    expect(version({ amount: '12' })).toMatchObject({
      kind: 'new_version',
      effective_from: NOW,
      parent_price_id: 'price_1',
      definition: { amount: '12', start_date: NOW, end_date: null },
    });
  });

  test('at a time of its own, in the past or future, down to the start', () => {
    for (const date of ['2026-01-01', '2026-02-01', '2027-01-01']) {
      expect(version({ amount: '12', effective_from: at(date) }).effective_from).toBe(at(date));
    }
  });

  test('what is not changed is carried', () => {
    const { definition } = version({ amount: '12' }, price({ min_quantity: '5', trial_period: 7 }));
    expect(definition).toMatchObject({
      type: 'USAGE',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      invoice_cadence: 'ARREAR',
      currency: 'usd',
      meter_id: 'meter_1',
      filter_values: { region: ['eu'] },
      min_quantity: 5,
      trial_period: 7,
      price_unit_type: 'FIAT',
      price_unit_config: null,
    });
  });

  test.each<[string, PriceEdit, VersionedPrice, object]>([
    ['tiers', { tiers: [{ unit_amount: '1' }] }, tieredPrice, { tiers: [{ unit_amount: '1' }], tier_mode: 'SLAB', amount: null }],
    ['the tier mode', { tier_mode: 'VOLUME' }, tieredPrice, { tier_mode: 'VOLUME', tiers }],
    ['a flat amount of a tier', { tiers: [tiers[0]!, { unit_amount: '2' }] }, tieredPrice, { tier_mode: 'SLAB' }],
    ['the model', { billing_model: 'PACKAGE', transform_quantity: { divide_by: 5 } }, price(), { billing_model: 'PACKAGE', amount: '10.5', transform_quantity: { divide_by: 5 } }],
    ['to tiers', { billing_model: 'TIERED', tier_mode: 'SLAB', tiers }, price(), { amount: null, tiers, tier_mode: 'SLAB', transform_quantity: null }],
    ['from tiers', { billing_model: 'FLAT_FEE', amount: '2' }, tieredPrice, { amount: '2', tiers: null, tier_mode: null }],
    ['the package', { transform_quantity: { divide_by: 10 } }, price({ billing_model: 'PACKAGE', transform_quantity: { divide_by: 5 } }), { transform_quantity: { divide_by: 10 } }],
    ['its rounding', { transform_quantity: { divide_by: 5, round: 'down' } }, price({ billing_model: 'PACKAGE', transform_quantity: { divide_by: 5 } }), { transform_quantity: { divide_by: 5, round: 'down' } }],
    ['the bucket', { bucket_size: 'DAY' }, price(), { bucket_size: 'DAY' }],
    ['no bucket any more', { bucket_size: 'none' }, price({ bucket_size: 'DAY' }), { bucket_size: 'none' }],
    ['no bucket any more, by null', { bucket_size: null }, price({ bucket_size: 'DAY' }), { bucket_size: 'none' }],
    ['an amount in units', { price_unit_amount: '200' }, customPrice, { amount: null, price_unit_config: { price_unit: 'tok', amount: '200', price_unit_tiers: null } }],
    ['tiers in units', { price_unit_tiers: [{ unit_amount: '9' }] }, { ...customPrice, billing_model: 'TIERED', tier_mode: 'SLAB', price_unit_tiers: [{ up_to: '5', unit_amount: '1' }] }, { tiers: null, price_unit_config: { price_unit: 'tok', amount: null, price_unit_tiers: [{ unit_amount: '9' }] } }],
  ])('%s', (_title, edit, of, definition) => {
    const found = version(edit, of).definition;
    expect(found).toMatchObject(definition);
    const bucketed = { aggregation: { type: 'MAX' as const, bucket_size: null } };
    const unit = { code: 'tok', base_currency: 'usd' };
    expect(() => validatePrice(found, { meter: bucketed, price_unit: unit, group: null })).not.toThrow();
  }); // prettier-ignore

  test('tiers in units are carried with their bounds as numbers', () => {
    const of = price({
      ...customPrice,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      price_unit_tiers: [{ up_to: '5', unit_amount: '1' }, { unit_amount: '2' }],
    });
    expect(version({ tier_mode: 'VOLUME' }, of).definition.price_unit_config).toEqual({
      price_unit: 'tok',
      amount: null,
      price_unit_tiers: [
        { up_to: 5, unit_amount: '1' },
        { up_to: null, unit_amount: '2' },
      ],
    });
  });
});

describe('a change of the model is given the terms that the old one did not have', () => {
  const tieredInUnits = price({
    ...customPrice,
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    price_unit_amount: '0',
    price_unit_tiers: [{ unit_amount: '1' }],
  });
  const unit = { code: 'tok', base_currency: 'usd' };
  const meter = { aggregation: { type: 'MAX' as const, bucket_size: null } };

  test.each<[string, PriceEdit, VersionedPrice, string[]]>([
    ['an amount, after tiers', { billing_model: 'FLAT_FEE' }, tieredPrice, ['amount amount_required']],
    ['an amount in units, after tiers', { billing_model: 'FLAT_FEE' }, tieredInUnits, ['price_unit_config.amount amount_required']],
    ['tiers and their mode', { billing_model: 'TIERED' }, price(), ['tier_mode tier_mode_required', 'tiers tiers_required']],
    ['a package size', { billing_model: 'PACKAGE' }, price(), ['transform_quantity package_size_required']],
    ['tiers on a flat fee', { tiers }, price(), ['tiers tiers_without_tiered']],
    ['tiers in units on a flat fee', { price_unit_tiers: tiers }, customPrice, ['price_unit_config.price_unit_tiers tiers_without_tiered']],
    ['a tier mode on a flat fee', { tier_mode: 'SLAB' }, price(), ['tier_mode tier_mode_without_tiered']],
    ['an amount beside tiers', { amount: '5' }, tieredPrice, ['amount amount_with_tiers']],
    ['a package size on a flat fee', { transform_quantity: { divide_by: 5 } }, price(), ['transform_quantity package_size_without_package']],
  ])('%s', (_title, edit, of, expected) => {
    const { definition } = version(edit, of);
    const { details } = refusalOf(() => validatePrice(definition, { meter, price_unit: unit, group: null }));
    expect(details.map(({ path, code }) => `${path} ${code}`)).toEqual(expected);
  }); // prettier-ignore
});

describe('changed in place', () => {
  test.each<[string, PriceEdit, VersionedPrice]>([
    ['nothing', {}, price()],
    ['the same amount', { amount: '10.50' }, price()],
    ['the same amount as a number', { amount: 10.5 }, price()],
    ['the same tiers', { tiers: [{ up_to: 10, unit_amount: '1.0', flat_amount: '0' }, { unit_amount: '2', flat_amount: '3.00' }] }, tieredPrice],
    ['the same mode', { tier_mode: 'SLAB', billing_model: 'TIERED' }, tieredPrice],
    ['the same package', { transform_quantity: { divide_by: 1, round: 'up' } }, price()],
    ['no bucket, as before', { bucket_size: 'none' }, price()],
    ['no bucket, by null, as before', { bucket_size: null }, price()],
    ['the same bucket', { bucket_size: 'DAY' }, price({ bucket_size: 'DAY' })],
    ['the same amount in units', { price_unit_amount: '100.0' }, customPrice],
    ['text of an ended price', {}, price({ end_date: at('2026-02-01') })],
  ])('%s', (_title, edit, of) => {
    expect(plan(edit, of)).toEqual({ kind: 'in_place' });
  }); // prettier-ignore

  test('but a date asks for a version, though its terms are the same', () => {
    const { effective_from, definition } = version(
      { amount: '10.50', effective_from: at('2026-04-01') },
      price(),
    );
    expect(effective_from).toBe(at('2026-04-01'));
    expect(definition).toMatchObject({ amount: '10.50', start_date: at('2026-04-01') });
  });

  test('null changes nothing of what cannot be cleared', () => {
    const nulls = { amount: null, tiers: null, tier_mode: null, price_unit_amount: null };
    expect(plan(nulls)).toEqual({ kind: 'in_place' });
    expect(plan({ ...nulls, type: null, meter_id: null } as PriceEdit)).toEqual({
      kind: 'in_place',
    });
    expect(plan({ amount: null, tiers: null }, customPrice)).toEqual({ kind: 'in_place' });
  });

  test('a client may send back the terms of the other unit kind as they were answered', () => {
    expect(plan({ amount: '10', price_unit_amount: '0' }, price({ amount: '10' }))).toEqual({
      kind: 'in_place',
    });
    const { amount, price_unit_amount } = customPrice;
    expect(plan({ amount, price_unit_amount }, customPrice)).toEqual({ kind: 'in_place' });
    expect(plan({ amount, price_unit_amount: '7' }, customPrice)).toMatchObject({
      kind: 'new_version',
      definition: { amount: null, price_unit_config: { amount: '7' } },
    });
  });

  test('a client may send back what cannot be changed', () => {
    const { type, currency, meter_id } = price();
    expect(plan({ type, currency: currency.toUpperCase(), meter_id } as PriceEdit)).toEqual({
      kind: 'in_place',
    });
  });
});

describe('refused (2.7)', () => {
  test.each<[string, object, VersionedPrice, string[]]>([
    ['another type', { type: 'FIXED' }, price(), ['validation_error', 'type immutable']],
    ['another currency', { currency: 'eur' }, price(), ['validation_error', 'currency immutable']],
    ['another period', { billing_period: 'ANNUAL' }, price(), ['validation_error', 'billing_period immutable']],
    ['another count', { billing_period_count: 2 }, price(), ['validation_error', 'billing_period_count immutable']],
    ['another cadence', { invoice_cadence: 'ADVANCE' }, price(), ['validation_error', 'invoice_cadence immutable']],
    ['another meter', { meter_id: 'meter_2' }, price(), ['validation_error', 'meter_id immutable']],
    ['another unit type', { price_unit_type: 'CUSTOM' }, price(), ['validation_error', 'price_unit_type immutable']],
    ['another owner', { entity_id: 'plan_2', entity_type: 'ADDON' }, price(), ['validation_error', 'entity_type immutable', 'entity_id immutable']],
    ['terms in units on FIAT', { price_unit_amount: '1' }, price(), ['validation_error', 'price_unit_amount other_price_unit']],
    ['tiers in units on FIAT', { price_unit_tiers: [{ unit_amount: '1' }] }, price(), ['validation_error', 'price_unit_tiers other_price_unit']],
    ['both kinds', { amount: '2', price_unit_amount: '1' }, price(), ['validation_error', 'price_unit_amount other_price_unit']],
    ['a fiat amount on CUSTOM', { amount: '2' }, customPrice, ['validation_error', 'amount other_price_unit']],
    ['fiat tiers on CUSTOM', { tiers: [{ unit_amount: '1' }] }, customPrice, ['validation_error', 'tiers other_price_unit']],
    ['a date without a change', { effective_from: at('2026-04-01') }, price(), ['validation_error', 'effective_from nothing_to_version']],
    ['a date before the start', { amount: '2', effective_from: '2025-12-31T23:59:59.999Z' }, price(), ['validation_error', 'effective_from before_start']],
    ['terms of an ended price', { amount: '2' }, price({ end_date: at('2026-02-01') }), ['invalid_operation']],
    ['terms of a price with an end ahead', { amount: '2' }, price({ end_date: at('2027-02-01') }), ['invalid_operation']],
    ['an amount of words', { amount: 'two' }, price(), ['validation_error', 'amount invalid_value']],
  ])('%s', (_title, edit, of, expected) => {
    expect(refused(edit, of)).toEqual(expected);
  }); // prettier-ignore

  test.each<[object, VersionedPrice, string]>([
    [{ type: 'FIXED' }, price(), 'type: cannot be changed: end this price and make another'],
    [
      { price_unit_amount: '1' },
      price(),
      'price_unit_amount: is for prices in a pricing unit only',
    ],
    [
      { amount: '2' },
      customPrice,
      'amount: is computed from the pricing unit: use price_unit_amount or price_unit_tiers',
    ],
    [
      { effective_from: at('2026-04-01') },
      price(),
      'effective_from: requires a pricing field in the same request',
    ],
    [
      { amount: '2', effective_from: at('2025-12-31') },
      price(),
      'effective_from: must not be before 2026-01-01T00:00:00.000Z',
    ],
    [
      { amount: '2' },
      price({ end_date: at('2026-02-01') }),
      'Price price_2 ends at 2026-02-01T00:00:00.000Z: it has no new versions.',
    ],
  ])('%p in plain words', (edit, of, message) => {
    expect(refusalOf(() => plan(edit as PriceEdit, of)).message).toBe(message);
  });

  test('a price that is valid from ever may change from any date', () => {
    const of = price({ start_date: null });
    expect(version({ amount: '2', effective_from: at('1999-01-01') }, of).effective_from).toBe(
      at('1999-01-01'),
    );
  });
});

describe('ending a price (2.7)', () => {
  const end = (request: { end_date?: string | null }, fields: Partial<VersionedPrice> = {}) =>
    endPrice(price(fields), request, NOW);

  test('at the given date, else now', () => {
    expect(end({})).toBe(NOW);
    expect(end({ end_date: null })).toBe(NOW);
    expect(end({ end_date: at('2026-06-01') })).toBe(at('2026-06-01'));
    expect(end({ end_date: at('2026-02-01') })).toBe(at('2026-02-01'));
  });

  test('at its start it was never valid, before it is refused', () => {
    expect(end({ end_date: at('2026-01-01') })).toBe(at('2026-01-01'));
    const refusal = refusalOf(() => end({ end_date: '2025-12-31T23:59:59.999Z' }));
    expect(refusal.details).toMatchObject([{ path: 'end_date', code: 'before_start' }]);
    expect(refusal.message).toBe('end_date: must not be before 2026-01-01T00:00:00.000Z');
    expect(refusalOf(() => end({}, { start_date: at('2026-04-01') })).code).toBe(
      'validation_error',
    );
    expect(end({ end_date: at('1999-01-01') }, { start_date: null })).toBe(at('1999-01-01'));
  });

  test('an end that is set already stays, also one ahead', () => {
    for (const end_date of [at('2026-02-01'), at('2027-01-01')]) {
      const refusal = refusalOf(() => end({}, { end_date }));
      expect(refusal).toMatchObject({ kind: 'invalid', code: 'invalid_operation' });
      expect(refusal.message).toContain(end_date);
    }
  });
});
