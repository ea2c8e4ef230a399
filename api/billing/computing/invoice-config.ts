import type { Db, Scope } from '../../../postgres/client.ts';
import { findSetting } from '../../../postgres/tables/settings.ts';
import { INVOICE_CONFIG_DEFAULT } from '../../../schemas/settings/invoicing.ts';
import type { SettingValue } from '../../../schemas/settings/settings.ts';

/** The setting `invoice_config`. */
export interface BillingInvoiceConfig extends Omit<
  SettingValue<'invoice_config'>,
  'finalization_delay_seconds'
> {
  /** Null: the tenant has not set it, and the operator's value applies (billing 17.4). */
  readonly finalization_delay_seconds: number | null;
}

export async function readInvoiceConfig(db: Db, scope: Scope): Promise<BillingInvoiceConfig> {
  const row = await findSetting(db, scope, 'invoice_config');
  return {
    ...INVOICE_CONFIG_DEFAULT,
    finalization_delay_seconds: null,
    ...row?.value,
  } as BillingInvoiceConfig;
}
