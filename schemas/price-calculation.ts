import { z } from 'zod';
import { ExplainedModel, ExplainedTier } from './explanation.ts';
import { CreatePriceBody } from './price.ts';
import { decimalText, nonNegativeDecimal, optionalId, optionalOneOf } from './primitives.ts';
import { PRICE_ENTITY_TYPES } from './words.ts';

const QUANTITIES_MAX = 200;

/** A price as `POST /prices` takes it. Nothing is created, so it need not belong to anything. */
const UnsavedPrice = CreatePriceBody.extend({
  entity_type: optionalOneOf(PRICE_ENTITY_TYPES),
  entity_id: optionalId,
});

/** The body of `POST /prices/calculate`: a stored price or an unsaved one, and quantities to rate with it. */
export const CalculatePriceBody = z
  .object({
    price_id: optionalId,
    price: UnsavedPrice.nullish(),
    quantities: z.array(nonNegativeDecimal).min(1, 'needs at least one').max(QUANTITIES_MAX),
  })
  .refine(({ price_id, price }) => price_id != null || price != null, {
    path: ['price_id'],
    message: 'is required unless price is sent',
  })
  .refine(({ price_id, price }) => price_id == null || price == null, {
    path: ['price'],
    message: 'must not be sent together with price_id',
  });
export type CalculatePriceBody = z.output<typeof CalculatePriceBody>;

/** What each quantity costs, each rated by itself: with `bucket_size`, as the usage of one window. */
export const PriceCalculation = z
  .object({
    /** Null for an unsaved price. */
    price_id: z.string().nullable(),
    currency: z.string(),
    /** The terms that rate the quantities. */
    model: ExplainedModel,
    /** In the order of the request. */
    items: z.array(
      z.object({
        quantity: decimalText,
        /** Unrounded. */
        amount: decimalText,
        /** The amount rounded to the currency, as on an invoice row. */
        total: decimalText,
        /** Null unless the price is a package price. */
        packages: decimalText.nullable(),
        /** The tiers with units or a charge. Their amounts add up to `amount`. Null unless TIERED. */
        tiers: z.array(ExplainedTier).nullable(),
      }),
    ),
  })
  .meta({ id: 'PriceCalculation' });
export type PriceCalculation = z.infer<typeof PriceCalculation>;
