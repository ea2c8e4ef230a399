import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreateTaxAssociationBody, TaxAssociation, TaxRate } from '../../../schemas/tax.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { insertTaxAssociation, shareTaxRateByCode, type TaxAssociationRow } from './repository.ts';

/** The entity that a tax rate is associated with. The caller checks that it exists. */
export interface TaxedEntity {
  readonly type: TaxAssociation['entity_type'];
  readonly id: string;
}

/** Terms of an association, without its entity. */
export type TaxAssociationTerms = Omit<
  CreateTaxAssociationBody,
  'entity_type' | 'entity_id' | 'external_customer_id'
>;

/**
 * Associates the published rate with this code with an entity (money 13.5). 404 for an unknown
 * code.
 */
export async function associateTaxRate(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  entity: TaxedEntity,
  terms: TaxAssociationTerms,
): Promise<TaxAssociation> {
  const { row, rate } = await newTaxAssociation(tx, deps, caller, entity, terms);
  return { ...(await insertTaxAssociation(tx, row, rate.code)), tax_rate: null };
}

/** The terms of an association that a request does not set. */
export const DEFAULT_TAX_TERMS = {
  priority: 0,
  auto_apply: false,
  tax_behavior: 'exclusive',
} as const;

/** An association not stored yet, with its rate, which cannot be archived in the meantime. */
export async function newTaxAssociation(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  entity: TaxedEntity,
  terms: TaxAssociationTerms,
): Promise<{ readonly row: TaxAssociationRow; readonly rate: TaxRate }> {
  const record = newRecord(deps, caller, 'ta');
  const start_date = terms.start_date ?? record.created_at;
  if (terms.end_date && start_date >= terms.end_date)
    throw invalidField('end_date', 'must be after start_date');
  const rate = await shareTaxRateByCode(tx, caller.scope, terms.tax_rate_code);
  const row: TaxAssociationRow = {
    ...record,
    tax_rate_id: rate.id,
    entity_type: entity.type,
    entity_id: entity.id,
    priority: terms.priority ?? DEFAULT_TAX_TERMS.priority,
    auto_apply: terms.auto_apply ?? DEFAULT_TAX_TERMS.auto_apply,
    currency: terms.currency || null,
    tax_behavior: terms.tax_behavior ?? DEFAULT_TAX_TERMS.tax_behavior,
    start_date,
    end_date: terms.end_date ?? null,
    metadata: terms.metadata ?? {},
  };
  return { row, rate };
}
