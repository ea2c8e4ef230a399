import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import type { TaxRate } from '../../../schemas/tax.ts';
import {
  insertTaxAssociation,
  type OwnedTaxAssociation,
  type TaxAssociationRow,
} from '../../catalog/taxes/repository.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { Caller } from '../../conventions/record.ts';
import { newTaxAssociation } from '../../catalog/taxes/associate-tax-rate.ts';
import type { BillingDeps } from '../../deps.ts';
import { settlementOf } from '../computing/settlement-currency.ts';
import type { NewSubscription } from '../records/subscription-repository.ts';

export interface NewTaxOverride {
  readonly row: TaxAssociationRow;
  readonly rate: TaxRate;
}

/**
 * The taxes that replace the customer's taxes on a new subscription, from its start (billing 8.1).
 * An exempt customer has none.
 */
export async function newTaxOverrides(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: NewSubscription,
  customer: { readonly tax_treatment: 'taxable' | 'exempt' },
  { tax_rate_overrides }: CreateSubscriptionBody,
): Promise<NewTaxOverride[]> {
  if (customer.tax_treatment === 'exempt') return [];
  const overrides: NewTaxOverride[] = [];
  const settlement = await settlementOf(tx, caller.scope, draft.currency);
  const currency = settlement?.currency ?? draft.currency;
  for (const [index, override] of (tax_rate_overrides ?? []).entries()) {
    // A rate in another currency taxes no invoice of the subscription.
    if (override.currency !== currency)
      throw invalidField(
        `tax_rate_overrides[${index}].currency`,
        `the invoices are in ${currency}`,
      );
    const body = { ...override, start_date: draft.start_date };
    const owner = { type: 'subscription', id: draft.id } as const;
    overrides.push(
      await newTaxAssociation(tx, deps, caller, owner, body).catch((error: unknown) => {
        throw below(error, `tax_rate_overrides[${index}]`);
      }),
    );
  }
  return overrides;
}

export async function writeTaxOverrides(
  tx: Transaction,
  overrides: readonly NewTaxOverride[],
): Promise<void> {
  for (const [index, { row, rate }] of overrides.entries())
    await insertTaxAssociation(tx, row, rate.code).catch((error: unknown) => {
      throw below(error, `tax_rate_overrides[${index}]`);
    });
}

/** The tax overrides in the form that the opening invoice reads, before they are stored. */
export const ownedOverride = ({ row, rate }: NewTaxOverride): OwnedTaxAssociation => ({
  id: row.id,
  level: 'subscription',
  entity_id: row.entity_id,
  tax_rate_id: rate.id,
  tax_rate_status: rate.tax_rate_status,
  percentage_value: rate.percentage_value,
  tax_behavior: row.tax_behavior,
  priority: row.priority,
  auto_apply: row.auto_apply,
  currency: row.currency,
  start_date: row.start_date,
  end_date: row.end_date,
});
