import { z } from 'zod';
import { name, text } from '../primitives.ts';
import { certificatesOf } from './certificates.ts';

/** How many environments of each type and how many people a tenant may have. */
export const TenantConfig = z.object({
  production: z.int32().min(0).optional(),
  development: z.int32().min(0).optional(),
  max_users: z.int32().min(1).optional(),
});
export const TENANT_CONFIG_DEFAULT = { production: 0, development: 2, max_users: 10 };
export type TenantLimits = Readonly<Record<keyof typeof TENANT_CONFIG_DEFAULT, number>>;

/** A label has letters, digits and hyphens, and a hyphen neither at its start nor at its end. */
function isDomain(value: string): boolean {
  const labels = value.split('.');
  return (
    labels.length > 1 &&
    /^[a-z]{2,}$/.test(labels.at(-1)!) &&
    labels.every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label))
  );
}

/**
 * Single sign-on of a tenant. It serves as soon as it is enabled and knows its identity provider.
 * `active` is ours to say: it is taken, because clients send back what they read, and forgotten.
 */
export const SamlConfig = z
  .object({
    enabled: z.boolean().optional(),
    active: z.unknown().optional(),
    /** Passwords are for super admins only. */
    enforce_sso: z.boolean().optional(),
    idp_entity_id: text(1000).optional(),
    idp_sso_url: text(2048)
      .check(z.url({ protocol: /^https$/ }))
      .or(z.literal(''))
      .optional(),
    /** PEM; two of them, one below the other, while the provider changes its key. */
    idp_certificate: text(20_000)
      .refine((value) => value === '' || certificatesOf(value) !== null, 'is no certificate in PEM')
      .optional(),
    /** The attribute that has the address; the name id without it. */
    email_attribute: text(200).optional(),
    default_role: z.enum(['all_reader', 'all_writer']).optional(),
    /** Of addresses in these domains, which the tenant owns, accounts are made at the first login. */
    verified_domains: z
      .array(text(253).toLowerCase().refine(isDomain, 'is no domain such as example.com'))
      .max(100)
      .optional(),
  })
  .transform(({ active: _ours, ...config }) => config);
export const SAML_CONFIG_DEFAULT = {
  enabled: false,
  active: false,
  enforce_sso: false,
  idp_entity_id: '',
  idp_sso_url: '',
  idp_certificate: '',
  email_attribute: '',
  default_role: 'all_reader',
  verified_domains: [],
} as const;

/** Whose events an environment wants. Kept as clients write it; the edge takes every event. */
export const EventIngestionFilter = z
  .object({
    enabled: z.boolean().optional(),
    allowed_external_customer_ids: z.array(name()).max(100_000).optional(),
  })
  .refine((value) => !value.enabled || (value.allowed_external_customer_ids ?? []).length > 0, {
    path: ['allowed_external_customer_ids'],
    message: 'is needed when enabled',
  });
export const EVENT_INGESTION_FILTER_DEFAULT = { enabled: false, allowed_external_customer_ids: [] };

export const CustomAnalyticsConfig = z.object({
  rules: z
    .array(
      z.object({
        id: z.literal('revenue-per-minute'),
        target_type: z.enum(['feature', 'meter', 'event_name']),
        target_id: name(),
      }),
    )
    .max(100)
    .optional(),
});
export const CUSTOM_ANALYTICS_CONFIG_DEFAULT = { rules: [] };
