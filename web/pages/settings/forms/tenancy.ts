import { SamlFields } from '../../../../schemas/settings/saml-fields.ts';
import { EventIngestionFilter, TenantConfig } from '../../../../schemas/settings/tenancy.ts';
import { formOf } from './fields.ts';

/** Settings of the company, its people and its events. */
export const TENANCY = {
  event_ingestion_filter: formOf(
    'Event filter',
    'While the filter is on, events of customers that are not listed are accepted, but neither stored nor billed.',
    EventIngestionFilter,
    {
      enabled: { kind: 'switch', label: 'Enable filter' },
      allowed_external_customer_ids: {
        kind: 'lines',
        of: 'text',
        label: 'External customer ids',
        hint: 'One on each line.',
      },
    },
  ),
  tenant_config: formOf(
    'Company limits',
    'These limits count all environments of the company. The operator of this installation may have set lower ones.',
    TenantConfig,
    {
      production: {
        kind: 'whole',
        label: 'Maximum production environments',
        hint: '0: none can be created.',
      },
      development: {
        kind: 'whole',
        label: 'Maximum development environments',
        hint: '0: none can be created.',
      },
      max_users: { kind: 'whole', label: 'Maximum people' },
    },
  ),
  saml_config: {
    ...formOf(
      'Single sign-on (SAML)',
      'Single sign-on is for all environments. Give your identity provider the address of the metadata, then write its answer here.',
      SamlFields,
      {
        enabled: { kind: 'switch', label: 'Enable single sign-on' },
        active: { kind: 'kept' },
        idp_entity_id: { kind: 'text', label: 'Entity id of the provider' },
        idp_sso_url: {
          kind: 'text',
          label: 'Sign-in address of the provider',
          hint: 'With https, for example https://idp.example.com/sso.',
        },
        idp_certificate: {
          kind: 'text',
          label: 'Certificate of the provider',
          rows: 6,
          isCode: true,
          hint: 'PEM. While the provider changes its key: the old and the new one, one below the other.',
        },
        email_attribute: {
          kind: 'text',
          label: 'Attribute with the e-mail address',
          hint: 'Empty: the name id is the address.',
        },
        verified_domains: {
          kind: 'lines',
          of: 'text',
          label: 'Your domains',
          hint: 'One on each line. People with addresses in them get an account when they first sign in.',
        },
        default_role: {
          kind: 'choice',
          label: 'Role of new accounts',
          choices: [
            ['all_reader', 'Reads everything'],
            ['all_writer', 'Reads and writes everything'],
          ],
        },
        enforce_sso: {
          kind: 'switch',
          label: 'Refuse passwords',
          hint: 'Super admins may still sign in with theirs.',
        },
      },
    ),
    isSecret: true,
  },
};
