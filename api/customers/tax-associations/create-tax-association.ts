import { invalidField, notFound } from '../../../domain/errors.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { CreateTaxAssociationBody, TaxAssociation } from '../../../schemas/tax.ts';
import { getCustomerByExternalId } from '../customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { associateTaxRate } from '../../catalog/taxes/associate-tax-rate.ts';
import { isKnownEntity } from './repository.ts';

/**
 * Associates a rate with a customer, a subscription, an invoice or the whole tenant. 404 if the rate or the
 * entity is unknown.
 */
export async function createTaxAssociation(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateTaxAssociationBody,
): Promise<TaxAssociation> {
  const type = entityTypeOf(body);
  const id = await entityIdOf(tx, caller.scope, type, body);
  const association = await associateTaxRate(tx, deps, caller, { type, id }, body);
  await assertEntity(tx, caller.scope, type, id);
  return association;
}

/** An `external_customer_id` implies a customer. */
function entityTypeOf(body: CreateTaxAssociationBody): TaxAssociation['entity_type'] {
  if (!body.external_customer_id) {
    if (!body.entity_type) throw invalidField('entity_type', 'is required');
    return body.entity_type;
  }
  if (body.entity_type && body.entity_type !== 'customer')
    throw invalidField('external_customer_id', 'names a customer, but entity_type is not customer');
  return 'customer';
}

async function entityIdOf(
  tx: Transaction,
  scope: Scope,
  entityType: TaxAssociation['entity_type'],
  body: CreateTaxAssociationBody,
): Promise<string> {
  if (body.external_customer_id) {
    const customer = await getCustomerByExternalId(tx, scope, body.external_customer_id);
    if (body.entity_id && body.entity_id !== customer.id)
      throw invalidField('entity_id', 'names another customer than external_customer_id');
    return customer.id;
  }
  if (body.entity_id) return body.entity_id;
  if (entityType === 'tenant') return scope.tenant_id;
  throw invalidField('entity_id', 'is required');
}

const NOUNS = { customer: 'Customer', subscription: 'Subscription', invoice: 'Invoice' } as const;

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
  if (!(await isKnownEntity(tx, scope, entityType, id))) throw notFound(NOUNS[entityType], id);
}
