import { z } from 'zod';
import { Price } from './price.ts';
import {
  name,
  optionalLookupKey,
  optionalMetadata,
  optionalText,
  recordFields,
  textOrEmpty,
} from './primitives.ts';
import { expandQuery, nestedFields, searchSchemas } from './search.ts';

const writable = {
  lookup_key: optionalLookupKey,
  description: optionalText(5000),
  metadata: optionalMetadata,
};
export const CreateCostsheetBody = z.object({ ...writable, name: name() });
export type CreateCostsheetBody = z.output<typeof CreateCostsheetBody>;
export const UpdateCostsheetBody = z.object({ ...writable, name: name().optional() });
export type UpdateCostsheetBody = z.output<typeof UpdateCostsheetBody>;

export const costsheetFields = {
  ...recordFields,
  name: z.string(),
  lookup_key: textOrEmpty,
  description: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
};
export const Costsheet = z
  .object({ ...costsheetFields, prices: z.array(Price).nullable() })
  .meta({ id: 'Costsheet' });
export type Costsheet = z.infer<typeof Costsheet>;

/** The record itself, and again under `costsheet`: older clients read either form. */
export const CostsheetRead = z.object({ ...Costsheet.shape, costsheet: Costsheet });
export const CostsheetWritten = z.object({ costsheet: Costsheet });
export const CostsheetDeleted = z.object({ message: z.string(), id: z.string() });

export const CostsheetQuery = expandQuery(['prices']);

export const CostsheetSearch = searchSchemas({
  fields: {
    id: 'text',
    name: 'text',
    lookup_key: 'text',
    description: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['prices'],
  filters: (kind) => ({
    costsheet_ids: kind.list(),
    name: kind.text(),
    lookup_key: kind.text(),
    lookup_keys: kind.list(),
    // The older names of the same fields (shapes, costsheet.Filter).
    costsheetIDs: kind.list(),
    lookupKey: kind.text(),
    ...nestedFields,
  }),
  older: ({ queryFilter, timeRangeFilter }) => ({
    ...(queryFilter as object | undefined),
    ...(timeRangeFilter as object | undefined),
  }),
});
