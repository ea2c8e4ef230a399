import { z } from 'zod';
import { instant, pairs, text } from '../primitives.ts';
import { CHECKOUT_CONFIG_DEFAULT, CheckoutConfig } from './checkout.ts';
import { EMAIL_CONFIG_DEFAULT, EmailConfig } from './email.ts';
import * as invoicing from './invoicing.ts';
import * as money from './money.ts';
import { CUSTOMER_PORTAL_CONFIG_DEFAULT, CustomerPortalConfig } from './portal.ts';
import { SAML_CONFIG_DEFAULT, SamlConfig } from './saml.ts';
import * as tenancy from './tenancy.ts';
import * as workflows from './workflows.ts';

interface SettingKind {
  /** Validates the sent value alone; then it is merged over the stored value, top-level key by key. */
  readonly schema: z.ZodType<object>;
  readonly default: object;
  /** Fields that accept null as a value; for every other field null restores the default. */
  readonly nullable?: readonly string[];
  /** A tenant's setting applies in all of its environments. */
  readonly scope: 'tenant' | 'environment';
  /**
   * Only a user who is super admin may read it; for other settings the permission to read settings is enough.
   */
  readonly readBySuperAdmins?: true;
}

/** All settings (tenancy 16). */
export const SETTINGS = {
  invoice_config: {
    schema: invoicing.InvoiceConfig,
    default: invoicing.INVOICE_CONFIG_DEFAULT,
    scope: 'environment',
  },
  subscription_config: {
    schema: invoicing.SubscriptionConfig,
    default: invoicing.SUBSCRIPTION_CONFIG_DEFAULT,
    scope: 'environment',
  },
  invoice_pdf_config: {
    schema: invoicing.InvoicePdfConfig,
    default: invoicing.INVOICE_PDF_CONFIG_DEFAULT,
    scope: 'environment',
  },
  draft_invoice_recompute_config: {
    schema: invoicing.DraftInvoiceRecomputeConfig,
    default: invoicing.DRAFT_INVOICE_RECOMPUTE_CONFIG_DEFAULT,
    scope: 'environment',
  },
  tenant_config: {
    schema: tenancy.TenantConfig,
    default: tenancy.TENANT_CONFIG_DEFAULT,
    scope: 'tenant',
  },
  saml_config: {
    schema: SamlConfig,
    default: SAML_CONFIG_DEFAULT,
    scope: 'tenant',
    readBySuperAdmins: true,
  },
  event_ingestion_filter: {
    schema: tenancy.EventIngestionFilter,
    default: tenancy.EVENT_INGESTION_FILTER_DEFAULT,
    scope: 'environment',
  },
  customer_onboarding: {
    schema: workflows.CustomerOnboarding,
    default: workflows.CUSTOMER_ONBOARDING_DEFAULT,
    scope: 'environment',
  },
  prepare_processed_events_config: {
    schema: workflows.PrepareProcessedEventsConfig,
    default: workflows.PREPARE_PROCESSED_EVENTS_CONFIG_DEFAULT,
    scope: 'environment',
  },
  custom_analytics_config: {
    schema: tenancy.CustomAnalyticsConfig,
    default: tenancy.CUSTOM_ANALYTICS_CONFIG_DEFAULT,
    scope: 'environment',
  },
  email_config: {
    schema: EmailConfig,
    default: EMAIL_CONFIG_DEFAULT,
    scope: 'environment',
  },
  customer_portal_config: {
    schema: CustomerPortalConfig,
    default: CUSTOMER_PORTAL_CONFIG_DEFAULT,
    scope: 'environment',
  },
  checkout_config: {
    schema: CheckoutConfig,
    default: CHECKOUT_CONFIG_DEFAULT,
    scope: 'environment',
  },
  wallet_balance_alert_config: {
    schema: money.WalletBalanceAlertConfig,
    default: money.WALLET_BALANCE_ALERT_CONFIG_DEFAULT,
    nullable: money.LEVELS,
    scope: 'environment',
  },
  subscription_alert_config: {
    schema: money.SpendAlertConfig,
    default: money.SPEND_ALERT_CONFIG_DEFAULT,
    nullable: money.LEVELS,
    scope: 'environment',
  },
  entitlement_alert_config: {
    schema: money.SpendAlertConfig,
    default: money.SPEND_ALERT_CONFIG_DEFAULT,
    nullable: money.LEVELS,
    scope: 'environment',
  },
  wallet_topup_config: {
    schema: money.WalletTopupConfig,
    default: money.WALLET_TOPUP_CONFIG_DEFAULT,
    scope: 'environment',
  },
  bonus_credits_topup_config: {
    schema: money.BonusCreditsTopupConfig,
    default: money.BONUS_CREDITS_TOPUP_CONFIG_DEFAULT,
    scope: 'environment',
  },
  payment_mandate_limits: {
    schema: money.PaymentMandateLimits,
    default: money.PAYMENT_MANDATE_LIMITS_DEFAULT,
    scope: 'environment',
  },
  payment_retry_config: {
    schema: money.PaymentRetryConfig,
    default: money.PAYMENT_RETRY_CONFIG_DEFAULT,
    scope: 'environment',
  },
  custom_currency_config: {
    schema: money.CustomCurrencyConfig,
    default: money.CUSTOM_CURRENCY_CONFIG_DEFAULT,
    scope: 'environment',
  },
} as const satisfies Record<string, SettingKind>;

export type SettingKey = keyof typeof SETTINGS;
/** The effective value of a setting: the stored value merged over the default, so every key is present. */
export type SettingValue<Key extends SettingKey> = Required<
  z.output<(typeof SETTINGS)[Key]['schema']>
>;

/** Whether the field accepts null as a value. */
export function takesNull(key: SettingKey, field: string): boolean {
  const kind: SettingKind = SETTINGS[key];
  return kind.nullable?.includes(field) === true;
}

/** Whether only a user who is super admin may read it (tenancy 14.3.2). */
export function isReadBySuperAdmins(key: SettingKey): boolean {
  const kind: SettingKind = SETTINGS[key];
  return kind.readBySuperAdmins === true;
}

export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);

export const SettingParams = z.object({ key: text(100) });

export const UpdateSettingBody = z.object({ value: pairs(z.unknown(), 256) });

/** An empty id and status mean that no value is stored and the default applies. */
export const Setting = z
  .object({
    id: z.string(),
    key: z.string(),
    value: z.record(z.string(), z.unknown()),
    tenant_id: z.string(),
    /** Empty for a tenant setting. */
    environment_id: z.string(),
    status: z.string(),
    created_at: instant.nullable(),
    updated_at: instant.nullable(),
    created_by: z.string().nullable(),
    updated_by: z.string().nullable(),
  })
  .meta({ id: 'Setting' });
export type Setting = z.infer<typeof Setting>;
