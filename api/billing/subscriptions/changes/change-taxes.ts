import { invalidField, notFound } from '../../../../domain/errors.ts';
import {
  addedTaxWindow,
  removedTaxEnd,
  reprioritizedFrom,
} from '../../../../domain/invoicing/tax-resolution.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { TaxChangeParams } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { TaxAssociation, TaxRate } from '../../../../schemas/tax.ts';
import { newTaxAssociation } from '../../../catalog/taxes/associate-tax-rate.ts';
import {
  findTaxAssociationsOf,
  findTaxRateByCode,
  findTaxRates,
  insertTaxAssociation,
  updateTaxAssociationRow,
} from '../../../catalog/taxes/repository.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { settlementOf } from '../../computing/settlement-currency.ts';

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
      refuseFields(params, ['tax_rate_id', 'tax_rate_code', 'priority']);
      const association = await taxOf(tx, caller, subscription, params);
      await updateTaxAssociationRow(tx, caller.scope, association.id, {
        end_date: removedTaxEnd(association, params.effective_date ?? null, at),
        ...changed(deps, caller),
      });
      return;
    }
    case 'reprioritize': {
      refuseFields(params, ['tax_rate_id', 'tax_rate_code']);
      const association = await taxOf(tx, caller, subscription, params);
      const { priority } = params;
      if (priority === undefined || priority === null)
        throw invalidField(`${PATH}.priority`, 'is required with reprioritize');
      const from = reprioritizedFrom(association, params.effective_date ?? null);
      return await reprioritize(tx, deps, caller, association, priority, from);
    }
    default:
      return params.action satisfies never;
  }
}

/** The association keeps its priority until `from`; a new one with the other priority follows it. */
async function reprioritize(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { tax_rate: rate, ...association }: TaxAssociation,
  priority: number,
  from: string | null,
): Promise<void> {
  const update = changed(deps, caller);
  if (from === null) {
    await updateTaxAssociationRow(tx, caller.scope, association.id, { priority, ...update });
    return;
  }
  await updateTaxAssociationRow(tx, caller.scope, association.id, { end_date: from, ...update });
  const later = { ...association, ...newRecord(deps, caller, 'ta'), priority, start_date: from };
  await insertTaxAssociation(tx, later, rate?.code ?? association.tax_rate_id);
}

async function addTax(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: TaxChangeParams,
  at: string,
): Promise<void> {
  if (params.tax_association_id)
    throw invalidField(`${PATH}.tax_association_id`, 'is for an association that exists');
  const rate = await rateOf(tx, caller, params);
  const owner = { type: 'subscription', id: subscription.id } as const;
  const settlement = await settlementOf(tx, caller.scope, subscription.currency);
  const currency = settlement?.currency ?? subscription.currency;
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

/** Fields of "add" would have no effect on an association that exists (api 33). */
function refuseFields(params: TaxChangeParams, fields: readonly (keyof TaxChangeParams)[]): void {
  for (const field of fields)
    if (params[field] != null)
      throw invalidField(`${PATH}.${field}`, `has no effect with ${params.action}`);
}

async function rateOf(
  tx: Transaction,
  { scope }: Caller,
  { tax_rate_id: id, tax_rate_code: code }: TaxChangeParams,
): Promise<TaxRate> {
  if (!id && !code) throw invalidField(`${PATH}.tax_rate_id`, 'is required with add');
  const rate = id
    ? ((await findTaxRates(tx, scope, [id]))[0] ?? null)
    : await findTaxRateByCode(tx, scope, code!);
  if (rate === null || rate.status !== 'published' || rate.tax_rate_status !== 'ACTIVE') {
    const field = id ? 'tax_rate_id' : 'tax_rate_code';
    throw invalidField(`${PATH}.${field}`, `${id ?? code} is not an active tax rate`);
  }
  if (code && rate.code !== code)
    throw invalidField(`${PATH}.tax_rate_code`, `the code of ${rate.id} is ${rate.code}`);
  return rate;
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
