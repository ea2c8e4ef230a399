import { z } from 'zod';
import {
  currency,
  decimalText,
  name,
  optionalMetadata,
  positiveDecimalText,
  recordFields,
  text,
} from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { searchSchemas } from './search.ts';

export const CreatePriceUnitBody = z.object({
  name: name(),
  /** Three characters, as in a price's currency, but not the code of a currency; converted to lower case. */
  code: currency,
  symbol: name(10),
  base_currency: currency,
  /** One unit in main units of the base currency. Text, so that no digits are lost. */
  conversion_rate: positiveDecimalText,
  metadata: optionalMetadata,
});
export type CreatePriceUnitBody = z.output<typeof CreatePriceUnitBody>;

/** The terms of a unit are those that its prices were made with: only their current values are accepted. */
export const UpdatePriceUnitBody = z.object({
  name: name().optional(),
  metadata: optionalMetadata,
  code: currency.nullish(),
  symbol: name(10).nullish(),
  base_currency: currency.nullish(),
  conversion_rate: positiveDecimalText.nullish(),
});
export type UpdatePriceUnitBody = z.output<typeof UpdatePriceUnitBody>;

export const PriceUnit = z
  .object({
    ...recordFields,
    name: z.string(),
    code: z.string(),
    symbol: z.string(),
    base_currency: z.string(),
    conversion_rate: decimalText,
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'PriceUnit' });
export type PriceUnit = z.infer<typeof PriceUnit>;

export const PriceUnitCodeParams = z.object({ code: text(255).min(1) });

export const PriceUnitSearch = searchSchemas({
  fields: {
    name: 'text',
    code: 'text',
    base_currency: 'text',
    symbol: 'text',
    conversion_rate: 'number',
    ...RECORD_SEARCH_FIELDS,
  },
  filters: (kind) => ({ price_unit_ids: kind.list(), code: kind.text() }),
});
