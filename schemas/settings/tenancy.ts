import { z } from 'zod';
import { onlyEmpty } from '../not-offered.ts';
import { name, text } from '../primitives.ts';
import { certificatesOf } from './certificates.ts';

/** Maximum number of environments of each type and of users of a tenant. */
export const TenantConfig = z.object({
  production: z.int32().min(0).optional(),
  development: z.int32().min(0).optional(),
  max_users: z.int32().min(1).optional(),
});
export const TENANT_CONFIG_DEFAULT = { production: 0, development: 2, max_users: 10 };
export type TenantLimits = Readonly<Record<keyof typeof TENANT_CONFIG_DEFAULT, number>>;

/** A label consists of letters, digits and hyphens, without a hyphen at its start or end. */
function isDomain(value: string): boolean {
  const labels = value.split('.');
  return (
    labels.length > 1 &&
    /^[a-z]{2,}$/.test(labels.at(-1)!) &&
    labels.every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label))
  );
}

/**
 * Single sign-on of a tenant. It works once it is enabled and has an identity provider. `active` is
 * computed: it is accepted, because clients send back what they read, and ignored.
 */
export const SamlConfig = z
  .object({
    enabled: z.boolean().optional(),
    active: z.unknown().optional(),
    /** When true, only super admins may log in with a password. */
    enforce_sso: z.boolean().optional(),
    idp_entity_id: text(1000).optional(),
    idp_sso_url: text(2048)
      .check(z.url({ protocol: /^https$/ }))
      .or(z.literal(''))
      .optional(),
    /** PEM; two certificates, one after the other, while the provider changes its key. */
    idp_certificate: text(20_000)
      .refine(
        (value) => value === '' || certificatesOf(value) !== null,
        'must be a certificate in PEM format',
      )
      .optional(),
    /** The attribute with the mail address; without it the name id. */
    email_attribute: text(200).optional(),
    default_role: z.enum(['all_reader', 'all_writer']).optional(),
    /** Domains that the tenant owns. Users with addresses in them get an account at their first login. */
    verified_domains: z
      .array(text(253).toLowerCase().refine(isDomain, 'must be a domain such as example.com'))
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

/** The customers whose events an environment wants: ingest leaves out the events of all others (metering 2). */
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
    .refine((rules) => rules.length === 0, onlyEmpty('rules of analytics'))
    .optional(),
});
export const CUSTOM_ANALYTICS_CONFIG_DEFAULT = { rules: [] };
