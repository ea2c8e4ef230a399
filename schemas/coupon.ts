import { z } from 'zod';
import { notOffered } from './not-offered.ts';
import {
  currency,
  decimal,
  decimalText,
  instant,
  integer,
  name,
  optionalLookupKey,
  optionalMetadata,
  recordFields,
  text,
  textOrEmpty,
  time,
} from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { searchSchemas } from './search.ts';
import { COUPON_CADENCES, COUPON_TYPES } from './words.ts';

export const CreateCouponBody = z.object({
  name: name(),
  type: z.enum(COUPON_TYPES),
  amount_off: decimal.nullish(),
  percentage_off: decimal.nullish(),
  currency: currency.or(z.literal('')).nullish(),
  cadence: z.enum(COUPON_CADENCES),
  duration_in_periods: integer.nullish(),
  max_redemptions: integer.nullish(),
  redeem_after: time.nullish(),
  redeem_before: time.nullish(),
  /** Matched in any letter case. */
  coupon_code: optionalLookupKey,
  rules: notOffered('rules of a coupon'),
  metadata: optionalMetadata,
});
export type CreateCouponBody = z.output<typeof CreateCouponBody>;

export const UpdateCouponBody = z.object({ name: name().optional(), metadata: optionalMetadata });

export const Coupon = z
  .object({
    ...recordFields,
    name: z.string(),
    type: z.enum(COUPON_TYPES),
    /** `0` on a percentage coupon; `percentage_off` is `0` on a fixed coupon. */
    amount_off: decimalText,
    percentage_off: decimalText,
    /** Only for a fixed coupon. */
    currency: textOrEmpty,
    cadence: z.enum(COUPON_CADENCES),
    duration_in_periods: z.int().nullable(),
    max_redemptions: z.int().nullable(),
    total_redemptions: z.int(),
    redeem_after: instant.nullable(),
    redeem_before: instant.nullable(),
    coupon_code: z.string().nullable(),
    rules: z.record(z.string(), z.unknown()).nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Coupon' });
export type Coupon = z.infer<typeof Coupon>;

export const CouponCodeParams = z.object({ code: text() });

export const CouponSearch = searchSchemas({
  fields: {
    name: 'text',
    type: 'text',
    cadence: 'text',
    currency: 'text',
    coupon_code: 'text',
    amount_off: 'number',
    percentage_off: 'number',
    duration_in_periods: 'number',
    max_redemptions: 'number',
    total_redemptions: 'number',
    redeem_after: 'time',
    redeem_before: 'time',
    ...RECORD_SEARCH_FIELDS,
  },
  filters: (kind) => ({ coupon_ids: kind.list(), coupon_codes: kind.list() }),
});

export const CouponAssociation = z
  .object({
    ...recordFields,
    coupon_id: z.string(),
    coupon: Coupon.nullable(),
    subscription_id: z.string(),
    subscription_line_item_id: z.string().nullable(),
    subscription_phase_id: z.string().nullable(),
    start_date: instant,
    end_date: instant.nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'CouponAssociation' });
export type CouponAssociation = z.infer<typeof CouponAssociation>;

export const CouponAssociationSearch = searchSchemas({
  fields: {
    coupon_id: 'text',
    subscription_id: 'text',
    start_date: 'time',
    end_date: 'time',
    subscription_line_item_id: 'text',
    subscription_phase_id: 'text',
    ...RECORD_SEARCH_FIELDS,
  },
  expand: ['coupon', 'coupons', 'subscription_line_item'],
  filters: (kind) => ({
    association_ids: kind.list(),
    subscription_ids: kind.list(),
    coupon_ids: kind.list(),
    subscription_line_item_ids: kind.list(),
    subscription_phase_ids: kind.list(),
    /** Coupons in force now, or at any instant from `period_start` to `period_end`. */
    active_only: kind.boolean(),
    period_start: kind.time(),
    period_end: kind.time(),
  }),
});
