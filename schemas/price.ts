import { z } from 'zod';
import { EmbeddedAddon } from './addon-record.ts';
import { Feature } from './feature.ts';
import { Group } from './group.ts';
import { Meter } from './meter.ts';
import { EmbeddedPlan } from './plan-record.ts';
import { PriceUnit } from './price-unit.ts';
import {
  billingPeriod,
  currency,
  decimal,
  decimalText,
  id,
  instant,
  integer,
  optionalId,
  optionalLookupKey,
  optionalMetadata,
  optionalName,
  optionalOneOf,
  optionalText,
  pairs,
  recordFields,
  text,
  textOrEmpty,
  time,
} from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { expandQuery, searchSchemas } from './search.ts';
import {
  BILLING_MODELS,
  BILLING_PERIODS,
  BUCKET_SIZES,
  INVOICE_CADENCES,
  PACKAGE_ROUNDS,
  PRICE_ENTITY_TYPES,
  PRICE_TYPES,
  PRICE_UNIT_TYPES,
  TIER_MODES,
} from './words.ts';

/** Whole quantities: tier ends and package sizes. */
const wholeQuantity = z.int().min(-Number.MAX_SAFE_INTEGER);

export const PriceTierBody = z.object({
  up_to: wholeQuantity.nullish(),
  unit_amount: decimal,
  flat_amount: decimal.nullish(),
});

export const TransformQuantityBody = z.object({
  divide_by: wholeQuantity,
  round: optionalOneOf(PACKAGE_ROUNDS),
});

const tiers = z.array(PriceTierBody).max(500).nullish();
const bucketSize = optionalOneOf([...BUCKET_SIZES, 'none']);

/** The property values that the price applies to: property → values (billing 2.5). */
const filterValues = pairs(z.array(text(1000)).max(1000), 20).nullish();

/** The body of `POST /prices`. The pricing rules check that the fields are consistent. */
export const CreatePriceBody = z.object({
  entity_type: z.enum(PRICE_ENTITY_TYPES),
  entity_id: id,
  type: z.enum(PRICE_TYPES),
  billing_model: z.enum(BILLING_MODELS),
  billing_period: billingPeriod,
  billing_period_count: integer.nullish(),
  invoice_cadence: z.enum(INVOICE_CADENCES),
  currency,
  price_unit_type: optionalOneOf(PRICE_UNIT_TYPES),
  price_unit_config: z
    .object({ price_unit: currency, amount: decimal.nullish(), price_unit_tiers: tiers })
    .nullish(),
  amount: decimal.nullish(),
  tier_mode: optionalOneOf(TIER_MODES),
  tiers,
  transform_quantity: TransformQuantityBody.nullish(),
  meter_id: optionalId,
  filter_values: filterValues,
  bucket_size: bucketSize,
  min_quantity: wholeQuantity.nullish(),
  trial_period: integer.nullish(),
  trial_period_days: integer.nullish(),
  start_date: time.nullish(),
  end_date: time.nullish(),
  display_name: optionalName(),
  description: optionalText(5000),
  lookup_key: optionalLookupKey,
  metadata: optionalMetadata,
  group_id: optionalId,
  /** Clients send `RECURRING` with every price. `ONETIME` is for the billing period `ONETIME` only. */
  billing_cadence: optionalOneOf(['RECURRING', 'ONETIME']),
});
export type CreatePriceBody = z.output<typeof CreatePriceBody>;

export const CreateBulkPriceBody = z.object({
  items: z.array(CreatePriceBody).min(1, 'needs at least one price').max(100),
});

/** Text and names change the price itself; a change of a pricing field creates its next version. */
export const UpdatePriceBody = z.object({
  amount: decimal.nullish(),
  billing_model: optionalOneOf(BILLING_MODELS),
  tier_mode: optionalOneOf(TIER_MODES),
  tiers,
  transform_quantity: TransformQuantityBody.nullish(),
  bucket_size: bucketSize,
  price_unit_amount: decimal.nullish(),
  price_unit_tiers: tiers,
  /** When the new version begins; absent means now. */
  effective_from: time.nullish(),
  display_name: optionalName(),
  description: optionalText(5000),
  lookup_key: optionalLookupKey,
  metadata: optionalMetadata,
  group_id: optionalId,
});
export type UpdatePriceBody = z.output<typeof UpdatePriceBody>;

export const DeletePriceBody = z.object({ end_date: time.nullish() });

export const PriceTier = z
  .object({
    up_to: z.number().nullable(),
    unit_amount: decimalText,
    flat_amount: decimalText.nullable(),
  })
  .meta({ id: 'PriceTier' });
export type PriceTier = z.infer<typeof PriceTier>;

/** A price as stored. */
export const priceFields = {
  ...recordFields,
  type: z.enum(PRICE_TYPES),
  billing_model: z.enum(BILLING_MODELS),
  billing_period: z.enum(BILLING_PERIODS),
  billing_period_count: z.int(),
  billing_cadence: z.string(),
  invoice_cadence: z.enum(INVOICE_CADENCES),
  currency: z.string(),
  amount: decimalText,
  display_amount: z.string(),
  display_name: z.string().nullable(),
  description: textOrEmpty,
  entity_type: z.enum(PRICE_ENTITY_TYPES),
  entity_id: z.string(),
  meter_id: textOrEmpty,
  filter_values: z.record(z.string(), z.array(z.string())),
  group_id: z.string().nullable(),
  lookup_key: textOrEmpty,
  metadata: z.record(z.string(), z.string()),
  min_quantity: decimalText.nullable(),
  price_unit_type: z.enum(PRICE_UNIT_TYPES),
  /** Code of the pricing unit. */
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  price_unit_amount: decimalText,
  price_unit_tiers: z.array(PriceTier).nullable(),
  display_price_unit_amount: z.string().nullable(),
  conversion_rate: decimalText,
  tier_mode: z.enum(TIER_MODES).nullable(),
  tiers: z.array(PriceTier).nullable(),
  transform_quantity: z.object({
    divide_by: z.number(),
    round: z.enum(PACKAGE_ROUNDS).nullable(),
  }),
  /** Days; both fields hold the same value. */
  trial_period: z.int(),
  trial_period_days: z.int(),
  bucket_size: z.enum(BUCKET_SIZES).nullable(),
  /** Null means no start. */
  start_date: instant.nullable(),
  end_date: instant.nullable(),
  /** Root of the lineage of versions; its own id for a root. */
  parent_price_id: z.string(),
  sequence: z.number(),
};

export const Price = z
  .object({
    ...priceFields,
    /** Null unless the route or `expand` includes the embedded records. */
    meter: Meter.nullable(),
    group: Group.nullable(),
    pricing_unit: PriceUnit.nullable(),
    plan: EmbeddedPlan.nullable(),
    addon: EmbeddedAddon.nullable(),
    features: z.array(Feature).nullable(),
  })
  .meta({ id: 'Price' });
export type Price = z.infer<typeof Price>;

export const BulkPrices = z.object({ items: z.array(Price) });

export const PRICE_EXPANSIONS = [
  'meters', 'groups', 'priceunit', 'plan', 'addons', 'features',
] as const; // prettier-ignore

/** A single price always embeds its meter, group and pricing unit. */
export const PriceQuery = expandQuery(PRICE_EXPANSIONS);

export const PriceSearch = searchSchemas({
  fields: {
    display_name: 'text',
    description: 'text',
    lookup_key: 'text',
    type: 'text',
    billing_model: 'text',
    billing_period: 'text',
    billing_period_count: 'number',
    billing_cadence: 'text',
    invoice_cadence: 'text',
    tier_mode: 'text',
    bucket_size: 'text',
    price_unit_type: 'text',
    price_unit: 'text',
    price_unit_id: 'text',
    price_unit_amount: 'number',
    conversion_rate: 'number',
    min_quantity: 'number',
    trial_period: 'number',
    currency: 'text',
    entity_type: 'text',
    entity_id: 'text',
    meter_id: 'text',
    group_id: 'text',
    parent_price_id: 'text',
    amount: 'number',
    sequence: 'number',
    start_date: 'time',
    end_date: 'time',
    ...RECORD_SEARCH_FIELDS,
  },
  expand: PRICE_EXPANSIONS,
  filters: (kind) => ({
    price_ids: kind.list(),
    plan_ids: kind.list(),
    entity_ids: kind.list(),
    entity_type: kind.oneOf(PRICE_ENTITY_TYPES),
    subscription_id: kind.text(),
    meter_ids: kind.list(),
    parent_price_id: kind.text(),
    billing_periods: kind.list(billingPeriod),
    currency: kind.text(),
    type: kind.oneOf(PRICE_TYPES),
    start_date_lt: kind.time(),
    /** Ended prices are left out unless this is set. */
    allow_expired_prices: kind.boolean(),
  }),
});
