import { z } from 'zod';
import {
  currency,
  decimal,
  decimalText,
  id,
  instant,
  integer,
  name,
  optionalId,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  recordFields,
  time,
} from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { searchSchemas } from './search.ts';
import { TAX_BEHAVIORS, TAX_ENTITY_TYPES, TAX_RATE_SCOPES, TAX_RATE_STATUSES } from './words.ts';

export const CreateTaxRateBody = z.object({
  name: name(),
  code: name(),
  description: optionalText(5000),
  /** Fixed-amount rates no longer exist (specification, Versioning). */
  tax_rate_type: z.literal('percentage'),
  percentage_value: decimal,
  scope: optionalOneOf(TAX_RATE_SCOPES),
  tax_rate_status: optionalOneOf(TAX_RATE_STATUSES),
  metadata: optionalMetadata,
});
export type CreateTaxRateBody = z.output<typeof CreateTaxRateBody>;

/** A rate for one customer or subscription, sent when the customer or subscription is created. */
export const TaxRateOverride = z.object({
  tax_rate_code: name(),
  currency,
  /**
   * Default: false, an association without tax (as the reference answers). On a one-off invoice
   * the tax is on the invoice, so only true or nothing is sent.
   */
  auto_apply: z.boolean().nullish(),
  priority: integer.min(0).nullish(),
  tax_behavior: optionalOneOf(TAX_BEHAVIORS),
  metadata: optionalMetadata,
});

export const UpdateTaxRateBody = z.object({
  name: name().optional(),
  code: name().optional(),
  description: optionalText(5000),
  tax_rate_status: optionalOneOf(TAX_RATE_STATUSES),
  /** A rate keeps its percentage: only the stored value is accepted. */
  percentage_value: decimal.nullish(),
  metadata: optionalMetadata,
});
export type UpdateTaxRateBody = z.output<typeof UpdateTaxRateBody>;

export const TaxRate = z
  .object({
    ...recordFields,
    name: z.string(),
    code: z.string(),
    description: z.string().nullable(),
    tax_rate_type: z.literal('percentage'),
    percentage_value: decimalText,
    /** Always null: the official client does not decode a rate without the key. */
    fixed_value: z.null(),
    scope: z.enum(TAX_RATE_SCOPES),
    tax_rate_status: z.enum(TAX_RATE_STATUSES),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'TaxRate' });
export type TaxRate = z.infer<typeof TaxRate>;

export const TaxRateSearch = searchSchemas({
  fields: {
    name: 'text',
    code: 'text',
    scope: 'text',
    tax_rate_status: 'text',
    description: 'text',
    tax_rate_type: 'text',
    percentage_value: 'number',
    ...RECORD_SEARCH_FIELDS,
  },
  filters: (kind) => ({
    taxrate_ids: kind.list(),
    taxrate_codes: kind.list(),
    scope: kind.oneOf(TAX_RATE_SCOPES),
  }),
});

export const CreateTaxAssociationBody = z.object({
  tax_rate_code: name(),
  /** Optional with `external_customer_id`, which implies a customer. */
  entity_type: optionalOneOf(TAX_ENTITY_TYPES),
  entity_id: optionalId,
  /** Identifies a customer; used instead of `entity_id`. */
  external_customer_id: optionalId,
  priority: integer.min(0).nullish(),
  auto_apply: z.boolean().nullish(),
  currency: currency.or(z.literal('')).nullish(),
  tax_behavior: optionalOneOf(TAX_BEHAVIORS),
  start_date: time.nullish(),
  end_date: time.nullish(),
  metadata: optionalMetadata,
});
export type CreateTaxAssociationBody = z.output<typeof CreateTaxAssociationBody>;

export const UpdateTaxAssociationBody = z.object({
  priority: integer.min(0).nullish(),
  auto_apply: z.boolean().nullish(),
  /** Invoices that are computed from now on have the tax this way. */
  tax_behavior: optionalOneOf(TAX_BEHAVIORS),
  metadata: optionalMetadata,
});
export type UpdateTaxAssociationBody = z.output<typeof UpdateTaxAssociationBody>;

export const TaxAssociation = z
  .object({
    ...recordFields,
    tax_rate_id: z.string(),
    tax_rate: TaxRate.nullable(),
    entity_type: z.enum(TAX_ENTITY_TYPES),
    entity_id: z.string(),
    priority: z.int(),
    auto_apply: z.boolean(),
    /** Null means every currency. */
    currency: z.string().nullable(),
    tax_behavior: z.enum(TAX_BEHAVIORS),
    start_date: instant,
    end_date: instant.nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'TaxAssociation' });
export type TaxAssociation = z.infer<typeof TaxAssociation>;

export const TaxAssociationSearch = searchSchemas({
  fields: {
    entity_type: 'text',
    entity_id: 'text',
    tax_rate_id: 'text',
    currency: 'text',
    priority: 'number',
    auto_apply: 'boolean',
    tax_behavior: 'text',
    start_date: 'time',
    end_date: 'time',
    ...RECORD_SEARCH_FIELDS,
  },
  expand: ['tax_rate'],
  filters: (kind) => ({
    tax_association_ids: kind.list(),
    tax_rate_ids: kind.list(id),
    tax_rate_id: kind.text(),
    entity_type: kind.oneOf(TAX_ENTITY_TYPES),
    entity_id: kind.text(),
    external_customer_id: kind.text(),
    currency: kind.text(),
    auto_apply: kind.boolean(),
  }),
});

/** A tax of an invoice as stored, without its rate. */
export const AppliedTaxRecord = z.object({
  ...recordFields,
  entity_type: z.literal('invoice'),
  entity_id: z.string(),
  tax_rate_id: z.string(),
  /** Null when the invoice itself names the rate. */
  tax_association_id: z.string().nullable(),
  /** The value when the tax was computed. */
  percentage_value: decimalText,
  tax_behavior: z.enum(TAX_BEHAVIORS),
  taxable_amount: decimalText,
  tax_amount: decimalText,
  currency: z.string(),
  applied_at: instant,
  idempotency_key: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
});
export type AppliedTaxRecord = z.infer<typeof AppliedTaxRecord>;

export const TaxApplied = AppliedTaxRecord.extend({
  /** Null unless the expansion `tax_applied.tax_rate` includes it; a preview always has it. */
  tax_rate: TaxRate.nullable(),
}).meta({ id: 'TaxApplied' });
