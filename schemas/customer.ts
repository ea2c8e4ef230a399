import { z } from 'zod';
import { country } from './countries.ts';
import {
  currency,
  email,
  optionalId,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  recordFields,
  text,
  textOrEmpty,
} from './primitives.ts';
import { timezone } from './timezone.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { searchSchemas } from './search.ts';
import { TaxRateOverride } from './tax.ts';
import { LINKED_PROVIDERS, TAX_TREATMENTS } from './words.ts';

/** Kept as sent, including spaces: usage events carry the external id with the same spaces. */
const label = text().refine((value) => value.trim() !== '', 'is required');

/** Empty text clears the address; other text must look like a deliverable address. */
const optionalEmail = z
  .union([email, z.literal('')])
  .nullish()
  .transform((value) => (value === '' ? null : value));

const ContactPersonBody = z.object({
  id: text(64).nullish(),
  first_name: optionalText(100),
  last_name: optionalText(100),
  salutation: optionalText(20),
  designation: optionalText(100),
  department: optionalText(100),
  email: optionalEmail,
  mobile: optionalText(20),
  is_primary: z.boolean().nullish(),
});
export type ContactPersonBody = z.output<typeof ContactPersonBody>;

const hasTwice = (ids: readonly string[]): boolean => new Set(ids).size < ids.length;

/** Contact fields; the customer may change them too. */
export const contactFields = {
  email: optionalEmail,
  contact: optionalText(20),
  contact_persons: z
    .array(ContactPersonBody)
    .max(50)
    .refine((persons) => persons.filter((person) => person.is_primary).length <= 1, {
      message: 'at most one person is the primary one',
    })
    .refine((persons) => !hasTwice(persons.flatMap(({ id }) => id || [])), {
      message: 'two persons have the same id',
    })
    .nullish(),
  address_line1: optionalText(255),
  address_line2: optionalText(255),
  address_city: optionalText(100),
  address_state: optionalText(100),
  address_postal_code: optionalText(20),
  address_country: country,
};

/** The customer's id at a connected provider. The linked record is always the customer itself. */
const CustomerLinkBody = z.object({
  entity_type: optionalOneOf(['customer']),
  entity_id: text().nullish(),
  provider_type: z.enum(LINKED_PROVIDERS),
  provider_entity_id: text(255).refine((value) => value.trim() !== '', 'is required'),
  metadata: optionalMetadata,
});
export type CustomerLinkBody = z.output<typeof CustomerLinkBody>;

const writable = {
  ...contactFields,
  timezone: timezone.or(z.literal('')).nullish(),
  customer_timezone: timezone.or(z.literal('')).nullish(),
  billing_currency: currency.or(z.literal('')).nullish(),
  tax_treatment: z.enum(TAX_TREATMENTS).or(z.literal('')).nullish(),
  metadata: optionalMetadata,
  integration_entity_mapping: z.array(CustomerLinkBody).max(50).nullish(),
};

const sameTimezone = (body: { timezone?: string | null; customer_timezone?: string | null }) =>
  !body.timezone || !body.customer_timezone || body.timezone === body.customer_timezone;
const timezonesDiffer = {
  path: ['customer_timezone'],
  message: 'differs from timezone, which is the same field',
};

export const CreateCustomerBody = z
  .object({
    ...writable,
    external_id: label,
    name: label,
    /** Tax rates that apply to the customer from creation. */
    tax_rate_overrides: z.array(TaxRateOverride).max(50).nullish(),
    /** The test clock whose time the customer lives by; not in production. */
    test_clock_id: optionalId,
    /** True: no action of the setting customer_onboarding runs for the customer. */
    skip_onboarding_workflow: z.boolean().nullish(),
    /** One of the setting's `custom_workflows`, in place of its actions. */
    onboarding_workflow_name: text().nullish(),
  })
  .refine(sameTimezone, timezonesDiffer);
export type CreateCustomerBody = z.output<typeof CreateCustomerBody>;

export const UpdateCustomerBody = z
  .object({ ...writable, external_id: label.optional(), name: label.optional() })
  .refine(sameTimezone, timezonesDiffer);
export type UpdateCustomerBody = z.output<typeof UpdateCustomerBody>;

/** Identifies the customer of `PUT /customers`: one of the two, or both when they agree. */
export const UpdateCustomerQuery = z.object({
  id: text().optional(),
  external_customer_id: text().optional(),
});

export const ExternalIdParams = z.object({ external_id: text() });
export const LookupKeyParams = z.object({ lookup_key: text() });

const nullableText = z.string().nullable();
export const ContactPerson = z
  .object({
    id: z.string(),
    /** Empty when unknown: typed clients need a text here. */
    first_name: z.string(),
    last_name: nullableText,
    salutation: nullableText,
    designation: nullableText,
    department: nullableText,
    email: nullableText,
    mobile: nullableText,
    is_primary: z.boolean(),
  })
  .meta({ id: 'ContactPerson' });
export type ContactPerson = z.infer<typeof ContactPerson>;

export const IntegrationMapping = z
  .object({
    ...recordFields,
    entity_type: z.string(),
    entity_id: z.string(),
    provider_type: z.string(),
    provider_entity_id: z.string(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'IntegrationMapping' });
export type IntegrationMapping = z.infer<typeof IntegrationMapping>;

export const Customer = z
  .object({
    ...recordFields,
    external_id: z.string(),
    name: z.string(),
    email: textOrEmpty,
    contact: nullableText,
    contact_persons: z.array(ContactPerson),
    address_line1: textOrEmpty,
    address_line2: textOrEmpty,
    address_city: textOrEmpty,
    address_state: textOrEmpty,
    address_postal_code: textOrEmpty,
    address_country: textOrEmpty,
    timezone: z.string(),
    billing_currency: nullableText,
    tax_treatment: z.enum(TAX_TREATMENTS),
    integrations: z.array(IntegrationMapping),
    /** The test clock whose time the customer lives by; null in real time. Never changes. */
    test_clock_id: nullableText,
    metadata: z.record(z.string(), z.string()),
    /** Always null: customers have no parents, but older clients expect the keys. */
    parent_customer_id: z.null(),
    parent_customer: z.null(),
  })
  .meta({ id: 'Customer' });
export type Customer = z.infer<typeof Customer>;

/** Names that `expand` accepts; the data is always included. */
export const CUSTOMER_EXPANDS = ['integrations'] as const;

export const CustomerSearch = searchSchemas({
  fields: {
    external_id: 'text',
    name: 'text',
    email: 'text',
    contact: 'text',
    address_line1: 'text',
    address_line2: 'text',
    address_city: 'text',
    address_state: 'text',
    address_postal_code: 'text',
    address_country: 'text',
    timezone: 'text',
    billing_currency: 'text',
    tax_treatment: 'text',
    test_clock_id: 'text',
    ...RECORD_SEARCH_FIELDS,
  },
  expand: CUSTOMER_EXPANDS,
  filters: (kind) => ({
    customer_ids: kind.list(),
    external_ids: kind.list(),
    external_id: kind.text(),
    email: kind
      .text()
      .refine((value) => !value || email.safeParse(value).success, 'must be an e-mail address'),
    metadata: kind.metadata(),
  }),
});
