import { invalidField, notFound } from '../../domain/errors.ts';
import { inScope, type Scope, type Transaction } from '../../postgres/client.ts';
import type { CreateTaxAssociationBody, TaxAssociation } from '../../schemas/tax.ts';
import { findCustomerByExternalId } from '../customers/repository.ts';
import type { BillingDeps } from '../deps.ts';
import { newRecord, type Caller } from '../record.ts';
import { findTaxRateByCode, insertTaxAssociation, type TaxAssociationRow } from './repository.ts';

/** Says that a rate counts for a customer, a subscription, an invoice or the whole tenant (money-semantics 13.5). */
export async function createTaxAssociation(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateTaxAssociationBody,
): Promise<TaxAssociation> {
  const { scope } = caller;
  const entityId = await entityIdOf(tx, scope, body);
  const rate = await findTaxRateByCode(tx, scope, body.tax_rate_code);
  await assertEntity(tx, scope, body.entity_type, entityId);
  const record = newRecord(deps, caller, 'ta');
  const row: TaxAssociationRow = {
    ...record,
    tax_rate_id: rate.id,
    entity_type: body.entity_type,
    entity_id: entityId,
    priority: body.priority ?? 0,
    auto_apply: body.auto_apply ?? false,
    currency: body.currency || null,
    tax_behavior: body.tax_behavior ?? 'exclusive',
    start_date: body.start_date ?? record.created_at,
    end_date: body.end_date ?? null,
    metadata: body.metadata ?? {},
  };
  if (row.end_date !== null && row.start_date >= row.end_date)
    throw invalidField('end_date', 'must be after start_date');
  return { ...(await insertTaxAssociation(tx, row)), tax_rate: null };
}

async function entityIdOf(
  tx: Transaction,
  scope: Scope,
  body: CreateTaxAssociationBody,
): Promise<string> {
  if (body.external_customer_id) {
    if (body.entity_type !== 'customer')
      throw invalidField('external_customer_id', 'names a customer; entity_type is another');
    const customer = await findCustomerByExternalId(tx, scope, body.external_customer_id);
    if (body.entity_id && body.entity_id !== customer.id)
      throw invalidField('entity_id', 'names another customer than external_customer_id');
    return customer.id;
  }
  if (body.entity_id) return body.entity_id;
  if (body.entity_type === 'tenant') return scope.tenant_id;
  throw invalidField('entity_id', 'is required');
}

const TABLES = {
  customer: { table: 'customers', noun: 'Customer' },
  subscription: { table: 'subscriptions', noun: 'Subscription' },
  invoice: { table: 'invoices', noun: 'Invoice' },
} as const;

async function assertEntity(
  tx: Transaction,
  scope: Scope,
  entityType: TaxAssociation['entity_type'],
  id: string,
): Promise<void> {
  if (entityType === 'tenant') {
    if (id !== scope.tenant_id) throw notFound('Tenant', id);
    return;
  }
  const { table, noun } = TABLES[entityType];
  const [row] = await tx`select 1 from ${tx(table)} where ${inScope(tx, scope)} and id = ${id}`;
  if (row === undefined) throw notFound(noun, id);
}
