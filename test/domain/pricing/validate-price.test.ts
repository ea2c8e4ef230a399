import {
  trialDays,
  validatePrice,
  type PriceDefinition,
  type PriceReferences,
} from '../../../domain/pricing/validate-price.ts';
import { refusalOf } from '../../support/refusal.ts';

const FIXED: PriceDefinition = {
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '10',
};
const USAGE: PriceDefinition = {
  ...FIXED,
  type: 'USAGE',
  invoice_cadence: 'ARREAR',
  meter_id: 'meter_1',
};
const TIERED: PriceDefinition = {
  ...FIXED,
  billing_model: 'TIERED',
  amount: null,
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 10, unit_amount: '1' },
    { up_to: null, unit_amount: '2', flat_amount: '3' },
  ],
};
const PACKAGE: PriceDefinition = {
  ...FIXED,
  billing_model: 'PACKAGE',
  transform_quantity: { divide_by: 100, round: 'up' },
};
const CUSTOM: PriceDefinition = {
  ...FIXED,
  amount: null,
  price_unit_type: 'CUSTOM',
  price_unit_config: { price_unit: 'tok', amount: '250' },
};
const CUSTOM_TIERS: PriceDefinition = {
  ...TIERED,
  tiers: null,
  price_unit_type: 'CUSTOM',
  price_unit_config: { price_unit: 'tok', price_unit_tiers: [{ unit_amount: '5' }] },
};

const meter = (type: 'SUM' | 'MAX' | 'COUNT' = 'SUM', bucket: 'DAY' | null = null) => ({
  aggregation: { type, bucket_size: bucket },
});
const REFERENCES: PriceReferences = {
  meter: meter(),
  price_unit: { code: 'tok', base_currency: 'usd' },
  group: null,
};

const problemsOf = (price: PriceDefinition, references: Partial<PriceReferences> = {}) =>
  refusalOf(() => validatePrice(price, { ...REFERENCES, ...references })).details.map(
    ({ path, code }) => `${path} ${code}`,
  );
const accept = (price: PriceDefinition, references: Partial<PriceReferences> = {}) =>
  expect(validatePrice(price, { ...REFERENCES, ...references })).toBeUndefined();

describe('accepted', () => {
  test.each<[string, PriceDefinition]>([
    ['a flat fee', FIXED],
    ['a flat fee of 0', { ...FIXED, amount: '0' }],
    ['an amount as a number', { ...FIXED, amount: 12.5 }],
    ['usage', USAGE],
    ['usage with filters', { ...USAGE, filter_values: { region: ['eu'] } }],
    ['usage per day', { ...USAGE, bucket_size: 'DAY' }],
    ['usage with a cleared bucket', { ...USAGE, bucket_size: 'none' }],
    ['tiers', TIERED],
    ['tiers in any order', { ...TIERED, tiers: TIERED.tiers!.toReversed() }],
    ['tiers that are all bounded', { ...TIERED, tiers: [{ up_to: 1, unit_amount: '1' }] }],
    ['tiers with the amount 0 that reads answer', { ...TIERED, amount: '0' }],
    ['a package', PACKAGE],
    ['a package without round', { ...PACKAGE, transform_quantity: { divide_by: 1 } }],
    [
      'a flat fee with the divide_by 1 that reads answer',
      { ...FIXED, transform_quantity: { divide_by: 1 } },
    ],
    ['a one-time fee in advance', { ...FIXED, billing_period: 'ONETIME' }],
    [
      'a one-time fee in arrear',
      { ...FIXED, billing_period: 'ONETIME', invoice_cadence: 'ARREAR' },
    ],
    ['a minimum', { ...FIXED, min_quantity: 0 }],
    ['a trial', { ...FIXED, trial_period: 14 }],
    ['the longest trial', { ...FIXED, trial_period: 3650 }],
    ['no trial on usage', { ...USAGE, trial_period_days: 0 }],
    ['a trial under both its names', { ...FIXED, trial_period: 14, trial_period_days: 14 }],
    ['a count', { ...FIXED, billing_period_count: 3 }],
    ['a start', { ...FIXED, start_date: '2026-01-01T00:00:00.000Z' }],
    [
      'a window',
      { ...FIXED, start_date: '2026-01-01T00:00:00.000Z', end_date: '2026-01-01T00:00:00.001Z' },
    ],
    ['an upper-case currency', { ...FIXED, currency: 'USD' }],
    ['a custom unit', CUSTOM],
    ['tiers in a custom unit', CUSTOM_TIERS],
    ['an empty list of fiat tiers beside a custom unit', { ...CUSTOM, tiers: [] }],
    ['FIAT by name', { ...FIXED, price_unit_type: 'FIAT', price_unit_config: null }],
    ['a meter on a fixed price, which drops it', { ...FIXED, meter_id: 'meter_1' }],
    ['empty filters on a fixed price', { ...FIXED, filter_values: {} }],
  ])('%s', (_title, price) => accept(price));

  test('a group of prices', () => accept(FIXED, { group: { entity_type: 'price' } }));
  test('a bucket on MAX', () => accept({ ...USAGE, bucket_size: 'HOUR' }, { meter: meter('MAX') }));
  test('no bucket where the meter has one', () => {
    accept(USAGE, { meter: meter('MAX', 'DAY') });
    accept({ ...USAGE, bucket_size: 'none' }, { meter: meter('MAX', 'DAY') });
  });
});

/** What is wrong, the definition, and the problems it is refused for. */
const REFUSED: readonly [string, PriceDefinition, string[]][] = [
  ['a currency of two letters', { ...FIXED, currency: 'us' }, ['currency invalid_currency']],
  ['a currency of four letters', { ...FIXED, currency: 'usdt' }, ['currency invalid_currency']],
  ['a count of 0', { ...FIXED, billing_period_count: 0 }, ['billing_period_count invalid_count']],
  ['half a count', { ...FIXED, billing_period_count: 1.5 }, ['billing_period_count invalid_count']],
  ['usage without a meter', { ...USAGE, meter_id: null }, ['meter_id meter_required']],
  ['usage with an empty meter', { ...USAGE, meter_id: '' }, ['meter_id meter_required']],
  ['usage in advance', { ...USAGE, invoice_cadence: 'ADVANCE' }, ['invoice_cadence usage_in_advance']],
  ['usage once', { ...USAGE, billing_period: 'ONETIME' }, ['billing_period usage_one_time']],
  ['filters on a fixed price', { ...FIXED, filter_values: { a: ['b'] } }, ['filter_values filter_on_fixed']],
  ['a filter without values', { ...USAGE, filter_values: { region: [] } }, ['filter_values.region empty_filter']],
  ['a filter without a key', { ...USAGE, filter_values: { '': ['x'] } }, ['filter_values. empty_filter']],
  ['no amount', { ...FIXED, amount: null }, ['amount amount_required']],
  ['no amount for a package', { ...PACKAGE, amount: undefined }, ['amount amount_required']],
  ['a negative amount', { ...FIXED, amount: '-0.01' }, ['amount negative_amount']],
  ['an amount of words', { ...FIXED, amount: 'ten' }, ['amount invalid_decimal']],
  ['too many decimals', { ...FIXED, amount: '0.1234567890123456789' }, ['amount invalid_decimal']],
  ['tiers on a flat fee', { ...FIXED, tiers: TIERED.tiers }, ['tiers tiers_without_tiered']],
  ['a tier mode on a flat fee', { ...FIXED, tier_mode: 'SLAB' }, ['tier_mode tier_mode_without_tiered']],
  ['an amount beside tiers', { ...TIERED, amount: '1' }, ['amount amount_with_tiers']],
  ['a bad amount beside tiers', { ...TIERED, amount: 'x' }, ['amount invalid_decimal']],
  ['no tier mode', { ...TIERED, tier_mode: null }, ['tier_mode tier_mode_required']],
  ['no tiers', { ...TIERED, tiers: null }, ['tiers tiers_required']],
  ['an empty list of tiers', { ...TIERED, tiers: [] }, ['tiers tiers_required']],
  ['two open tiers', { ...TIERED, tiers: [{ unit_amount: '1' }, { up_to: null, unit_amount: '2' }] }, ['tiers[1].up_to second_open_tier']],
  ['the same bound twice', { ...TIERED, tiers: [{ up_to: 5, unit_amount: '1' }, { up_to: 5, unit_amount: '2' }] }, ['tiers[1].up_to duplicate_up_to']],
  ['a bound of 0', { ...TIERED, tiers: [{ up_to: 0, unit_amount: '1' }] }, ['tiers[0].up_to invalid_up_to']],
  ['a negative bound', { ...TIERED, tiers: [{ up_to: -5, unit_amount: '1' }] }, ['tiers[0].up_to invalid_up_to']],
  ['half a bound', { ...TIERED, tiers: [{ up_to: 1.5, unit_amount: '1' }] }, ['tiers[0].up_to invalid_up_to']],
  ['a bound beyond what a double holds', { ...TIERED, tiers: [{ up_to: 2 ** 53, unit_amount: '1' }] }, ['tiers[0].up_to invalid_up_to']],
  ['a negative unit amount', { ...TIERED, tiers: [{ unit_amount: '-1' }] }, ['tiers[0].unit_amount negative_amount']],
  ['a negative flat amount', { ...TIERED, tiers: [{ unit_amount: '1', flat_amount: '-1' }] }, ['tiers[0].flat_amount negative_amount']],
  ['a package without size', { ...PACKAGE, transform_quantity: null }, ['transform_quantity package_size_required']],
  ['a package of 0', { ...PACKAGE, transform_quantity: { divide_by: 0 } }, ['transform_quantity.divide_by invalid_package_size']],
  ['a package of a half', { ...PACKAGE, transform_quantity: { divide_by: 0.5 } }, ['transform_quantity.divide_by invalid_package_size']],
  ['a flat fee by the thousand', { ...FIXED, transform_quantity: { divide_by: 1000 } }, ['transform_quantity package_size_without_package']],
  ['tiers by the thousand', { ...TIERED, transform_quantity: { divide_by: 2 } }, ['transform_quantity package_size_without_package']],
  ['a flat fee divided by 0', { ...FIXED, transform_quantity: { divide_by: 0 } }, ['transform_quantity.divide_by invalid_package_size']],
  ['a bucket on a fixed price', { ...FIXED, bucket_size: 'DAY' }, ['bucket_size bucket_on_fixed']],
  ['a minimum on usage', { ...USAGE, min_quantity: 1 }, ['min_quantity min_quantity_on_usage']],
  ['a negative minimum', { ...FIXED, min_quantity: -1 }, ['min_quantity invalid_min_quantity']],
  ['half a minimum', { ...FIXED, min_quantity: 1.5 }, ['min_quantity invalid_min_quantity']],
  ['a trial on usage', { ...USAGE, trial_period: 1 }, ['trial_period trial_without_recurring_fee']],
  ['a trial on a one-time fee', { ...FIXED, billing_period: 'ONETIME', trial_period_days: 7 }, ['trial_period_days trial_without_recurring_fee']],
  ['a negative trial', { ...FIXED, trial_period_days: -1 }, ['trial_period_days invalid_trial_period']],
  ['half a day of trial', { ...FIXED, trial_period: 0.5 }, ['trial_period invalid_trial_period']],
  ['a trial of more than ten years', { ...FIXED, trial_period: 3651 }, ['trial_period invalid_trial_period']],
  ['two trials', { ...FIXED, trial_period: 7, trial_period_days: 14 }, ['trial_period_days trial_period_twice']],
  ['an end before its start', { ...FIXED, start_date: '2026-02-01T00:00:00.000Z', end_date: '2026-01-01T00:00:00.000Z' }, ['end_date end_before_start']],
  ['an end at its start', { ...FIXED, start_date: '2026-02-01T00:00:00.000Z', end_date: '2026-02-01T00:00:00.000Z' }, ['end_date end_before_start']],
  ['CUSTOM without its config', { ...CUSTOM, price_unit_config: null }, ['price_unit_config price_unit_config_required']],
  ['FIAT with a config', { ...FIXED, price_unit_config: { price_unit: 'tok' } }, ['price_unit_config price_unit_config_on_fiat']],
  ['CUSTOM with a fiat amount', { ...CUSTOM, amount: '1' }, ['amount fiat_amount_with_custom_unit']],
  ['CUSTOM with fiat tiers', { ...CUSTOM_TIERS, tiers: TIERED.tiers }, ['tiers fiat_amount_with_custom_unit']],
  ['CUSTOM without an amount', { ...CUSTOM, price_unit_config: { price_unit: 'tok' } }, ['price_unit_config.amount amount_required']],
  ['CUSTOM with a negative amount', { ...CUSTOM, price_unit_config: { price_unit: 'tok', amount: '-1' } }, ['price_unit_config.amount negative_amount']],
  ['CUSTOM with tiers on a flat fee', { ...CUSTOM, price_unit_config: { price_unit: 'tok', amount: '1', price_unit_tiers: [{ unit_amount: '1' }] } }, ['price_unit_config.price_unit_tiers tiers_without_tiered']],
  ['CUSTOM tiers without tiers', { ...CUSTOM_TIERS, price_unit_config: { price_unit: 'tok' } }, ['price_unit_config.price_unit_tiers tiers_required']],
  ['CUSTOM tiers with an amount', { ...CUSTOM_TIERS, price_unit_config: { price_unit: 'tok', amount: '2', price_unit_tiers: [{ unit_amount: '1' }] } }, ['price_unit_config.amount amount_with_tiers']],
  ['CUSTOM tiers with a bad bound', { ...CUSTOM_TIERS, price_unit_config: { price_unit: 'tok', price_unit_tiers: [{ up_to: 0, unit_amount: '1' }] } }, ['price_unit_config.price_unit_tiers[0].up_to invalid_up_to']],
  ['a unit of another currency', { ...CUSTOM, currency: 'eur' }, ['price_unit_config.price_unit price_unit_currency']],
]; // prettier-ignore

describe('refused with the field and a stable code (2.1)', () => {
  test.each(REFUSED)("%s", (_title, price, problems) => {
    expect(problemsOf(price)).toEqual(problems);
  }); // prettier-ignore

  test('a meter that is not there', () => {
    expect(problemsOf(USAGE, { meter: null })).toEqual(['meter_id meter_required']);
  });
  test('a meter that is not there, with a bucket', () => {
    expect(problemsOf({ ...USAGE, bucket_size: 'DAY' }, { meter: null })).toEqual([
      'meter_id meter_required',
    ]);
  });
  test('a unit that is not there', () => {
    expect(problemsOf(CUSTOM, { price_unit: null })).toEqual([
      'price_unit_config.price_unit price_unit_required',
    ]);
  });
  test('a bucket on both meter and price', () => {
    const both = { meter: meter('MAX', 'DAY') };
    expect(problemsOf({ ...USAGE, bucket_size: 'DAY' }, both)).toEqual([
      'bucket_size bucket_on_meter_and_price',
    ]);
  });
  test('a bucket on other than MAX and SUM', () => {
    const count = { meter: meter('COUNT') };
    expect(problemsOf({ ...USAGE, bucket_size: 'DAY' }, count)).toEqual([
      'bucket_size bucket_aggregation',
    ]);
  });
  test('a group of features', () => {
    expect(problemsOf(FIXED, { group: { entity_type: 'feature' } })).toEqual([
      'group_id group_not_for_prices',
    ]);
  });
});

describe('the refusal', () => {
  test('says in plain words what would be right', () => {
    const messages = new Set(
      REFUSED.flatMap(([, price]) =>
        refusalOf(() => validatePrice(price, REFERENCES)).details.map(
          ({ code, message }) => `${code}: ${message}`,
        ),
      ),
    );
    expect([...messages].sort()).toEqual([
      'amount_required: is required for FLAT_FEE',
      'amount_required: is required for PACKAGE',
      'amount_with_tiers: has no meaning with billing_model TIERED',
      'bucket_on_fixed: is for USAGE prices only',
      'duplicate_up_to: 5 ends two tiers',
      'empty_filter: needs a key and at least one value',
      'end_before_start: must be after start_date',
      'fiat_amount_with_custom_unit: must not be sent with price_unit_type CUSTOM: use price_unit_config',
      'filter_on_fixed: select usage: a FIXED price has none',
      'invalid_count: must be an integer of at least 1',
      'invalid_currency: must be a code of three characters',
      'invalid_decimal: must be a decimal number such as "12.50"',
      'invalid_decimal: must have at most 20 integer and 18 decimal digits',
      'invalid_min_quantity: must be an integer of at least 0',
      'invalid_package_size: must be an integer of at least 1',
      'invalid_trial_period: must be an integer of 0 to 3650 days',
      'invalid_up_to: must be an integer of at least 1, or null',
      'meter_required: is required for a USAGE price',
      'min_quantity_on_usage: is for FIXED prices only',
      'negative_amount: must not be negative',
      'package_size_required: is required for PACKAGE',
      'package_size_without_package: divides quantities for billing_model PACKAGE only',
      'price_unit_config_on_fiat: is for price_unit_type CUSTOM only',
      'price_unit_config_required: is required for price_unit_type CUSTOM',
      'price_unit_currency: has base currency usd, the price is in eur',
      'second_open_tier: only one tier may be open',
      'tier_mode_required: is required for TIERED: VOLUME or SLAB',
      'tier_mode_without_tiered: is for billing_model TIERED only',
      'tiers_required: need at least one tier',
      'tiers_without_tiered: are for billing_model TIERED only',
      'trial_period_twice: trial_period says 7',
      'trial_without_recurring_fee: is for recurring FIXED prices only',
      'usage_in_advance: must be ARREAR for a USAGE price',
      'usage_one_time: must recur for a USAGE price',
    ]);
  });

  const broken = { ...TIERED, tier_mode: null, tiers: [{ unit_amount: '-1' }], currency: '' };

  test('names every problem at once, and the first in its message', () => {
    const refusal = refusalOf(() => validatePrice(broken, REFERENCES));
    expect(refusal).toMatchObject({ kind: 'invalid', code: 'validation_error' });
    expect(refusal.message).toBe('currency: must be a code of three characters');
    expect(refusal.details.map(({ code }) => code)).toEqual([
      'invalid_currency',
      'tier_mode_required',
      'negative_amount',
    ]);
  });

  test('says what would be right of what is referred to', () => {
    const message = (price: PriceDefinition, references: Partial<PriceReferences>) =>
      refusalOf(() => validatePrice(price, { ...REFERENCES, ...references })).details[0]!.message;
    expect(message(FIXED, { group: { entity_type: 'feature' } })).toBe(
      'must be a group of entity type price',
    );
    expect(message(CUSTOM, { price_unit: null })).toBe('must name a pricing unit');
    expect(message({ ...USAGE, bucket_size: 'DAY' }, { meter: meter('COUNT') })).toBe(
      'needs a meter with MAX or SUM, this one has COUNT',
    );
  });

  test('says what would be right', () => {
    const { details } = refusalOf(() =>
      validatePrice(
        { ...USAGE, bucket_size: 'DAY' },
        { ...REFERENCES, meter: meter('MAX', 'DAY') },
      ),
    );
    expect(details[0]!.message).toBe('cannot be set: the meter has bucket size DAY');
  });
});

describe('trial days', () => {
  test.each`
    trial_period | trial_period_days | days
    ${7}         | ${undefined}      | ${7}
    ${undefined} | ${14}             | ${14}
    ${null}      | ${14}             | ${14}
    ${0}         | ${undefined}      | ${0}
    ${undefined} | ${undefined}      | ${null}
    ${null}      | ${null}           | ${null}
  `('$trial_period and $trial_period_days: $days', ({ days, ...price }) => {
    expect(trialDays(price)).toBe(days);
  });
});
