import { text } from '../primitives.ts';
import { certificatesOf } from './certificates.ts';
import { SamlFields } from './saml-fields.ts';

/**
 * Single sign-on of a tenant. It works once it is enabled and has an identity provider. `active` is
 * computed: it is accepted, because clients send back what they read, and ignored.
 */
export const SamlConfig = SamlFields.extend({
  idp_certificate: text(20_000)
    .refine(
      (value) => value === '' || certificatesOf(value) !== null,
      'must be a certificate in PEM format',
    )
    .optional(),
}).transform(({ active: _ours, ...config }) => config);
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
