import { z } from 'zod';
import { text } from '../primitives.ts';

/** A label consists of letters, digits and hyphens, without a hyphen at its start or end. */
function isDomain(value: string): boolean {
  const labels = value.split('.');
  return (
    labels.length > 1 &&
    /^[a-z]{2,}$/.test(labels.at(-1)!) &&
    labels.every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label))
  );
}

/** The fields of single sign-on as a browser can check them: it cannot read certificates. */
export const SamlFields = z.object({
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
  idp_certificate: text(20_000).optional(),
  /** The attribute with the mail address; without it the name id. */
  email_attribute: text(200).optional(),
  default_role: z.enum(['all_reader', 'all_writer']).optional(),
  /** Domains that the tenant owns. Users with addresses in them get an account at their first login. */
  verified_domains: z
    .array(text(253).toLowerCase().refine(isDomain, 'must be a domain such as example.com'))
    .max(100)
    .optional(),
});
