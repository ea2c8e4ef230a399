import { invalidField, notFound } from '../../../../domain/errors.ts';
import { addedTaxWindow, removedTaxEnd } from '../../../../domain/invoicing/tax-resolution.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { TaxChangeParams } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { TaxAssociation } from '../../../../schemas/tax.ts';
import { newTaxAssociation } from '../../../catalog/taxes/associate-tax-rate.ts';
import {
  findTaxAssociationsOf,
  findTaxRates,
  insertTaxAssociation,
  updateTaxAssociationRow,
} from '../../../catalog/taxes/repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';

const PATH = 'tax_params';
/** Priority of a tax without one in the request, as recorded. */
const PRIORITY = 100;

/** Adds or ends a tax of the subscription, or changes its priority (billing 8.1). */
export async function changeTaxes(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: TaxChangeParams,
  at: string,
): Promise<void> {
  switch (params.action) {
    case 'add':
      return await addTax(tx, deps, caller, subscription, params, at);
    case 'remove': {
      const association = await taxOf(tx, caller, subscription, params);
      await updateTaxAssociationRow(tx, caller.scope, association.id, {
        end_date: removedTaxEnd(association, params.effective_date ?? null, at),
        ...changed(deps, caller),
      });
      return;
    }
    case 'reprioritize': {
      const { id } = await taxOf(tx, caller, subscription, params);
      const { priority } = params;
      if (priority === undefined || priority === null)
        throw invalidField(`${PATH}.priority`, 'is required with reprioritize');
      await updateTaxAssociationRow(tx, caller.scope, id, { priority, ...changed(deps, caller) });
      return;
    }
    default:
      return params.action satisfies never;
  }
}

async function addTax(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: TaxChangeParams,
  at: string,
): Promise<void> {
  if (!params.tax_rate_id) throw invalidField(`${PATH}.tax_rate_id`, 'is required with add');
  if (params.tax_association_id)
    throw invalidField(`${PATH}.tax_association_id`, 'is for an association that exists');
  const [rate] = await findTaxRates(tx, caller.scope, [params.tax_rate_id]);
  if (rate === undefined || rate.status !== 'published' || rate.tax_rate_status !== 'ACTIVE')
    throw invalidField(`${PATH}.tax_rate_id`, `${params.tax_rate_id} is not an active tax rate`);
  const owner = { type: 'subscription', id: subscription.id } as const;
  const { currency } = subscription;
  const current = await findTaxAssociationsOf(tx, caller.scope, 'subscription', [owner.id]);
  const asked = { tax_rate_id: rate.id, currency };
  const { start_date } = addedTaxWindow(current, asked, params.effective_date ?? null, at);
  const added = await newTaxAssociation(tx, deps, caller, owner, {
    tax_rate_code: rate.code,
    currency,
    auto_apply: true,
    priority: params.priority ?? PRIORITY,
    metadata: {},
    start_date,
  });
  await insertTaxAssociation(tx, added.row, rate.code);
}

async function taxOf(
  tx: Transaction,
  { scope }: Caller,
  subscription: SubscriptionRow,
  { tax_association_id: id }: TaxChangeParams,
): Promise<TaxAssociation> {
  if (!id) throw invalidField(`${PATH}.tax_association_id`, 'is required');
  const associations = await findTaxAssociationsOf(tx, scope, 'subscription', [subscription.id]);
  const found = associations.find((association) => association.id === id);
  if (found === undefined) throw notFound('Tax association', id);
  return found;
}
