import { alreadyExists, notFound } from '../../../domain/errors.ts';
import type { TaxAssociation as ResolvableTax } from '../../../domain/invoicing/tax-resolution.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { byId, tableOf } from '../../../postgres/table.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { TaxAssociation, TaxRate } from '../../../schemas/tax.ts';

/** A rate as written: without a fixed amount. */
type NewTaxRate = Omit<TaxRate, 'fixed_value'>;

const rates = tableOf<TaxRate, NewTaxRate>({
  name: 'tax_rates',
  noun: 'Tax rate',
  columns: (db) => db`
  id, tenant_id, environment_id, name, code, description, tax_rate_type, percentage_value,
  null as fixed_value, scope, tax_rate_status, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  taken: { tax_rates_code_key: ({ code }) => alreadyExists('tax rate', 'code', code ?? '') },
});

/** The rate, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getTaxRate = rates.get;

/** Rates of the scope with these ids, unordered. */
export const findTaxRates = rates.find;
export const lockTaxRate = rates.lock;
export const insertTaxRate = rates.insert;
export const updateTaxRateRow = rates.change;

/** The published rate with the code; null if there is none. */
export async function findTaxRateByCode(
  db: Db,
  scope: Scope,
  code: string,
): Promise<TaxRate | null> {
  const [row] = await db<TaxRate[]>`
    select ${rates.columns(db)} from tax_rates
     where ${inScope(db, scope)} and code = ${code} and status = 'published'`;
  return row ?? null;
}

/**
 * The published rate with the code, locked against archiving until the transaction ends. 404 if there is
 * none.
 */
export async function shareTaxRateByCode(
  tx: Transaction,
  scope: Scope,
  code: string,
): Promise<TaxRate> {
  const [row] = await tx<TaxRate[]>`
    select ${rates.columns(tx)} from tax_rates
     where ${inScope(tx, scope)} and code = ${code} and status = 'published'
       for share`;
  if (row === undefined) throw notFound('Tax rate', code);
  return row;
}

export interface TaxRateFilter {
  readonly taxrate_ids?: string[] | null;
  readonly taxrate_codes?: string[] | null;
  readonly scope?: string | null;
  readonly search: Search;
}

/** Leaves out archived rates unless a status is requested. */
export function searchTaxRates(
  db: Db,
  scope: Scope,
  filter: TaxRateFilter,
): Promise<Page<TaxRate>> {
  const { search } = filter;
  return findPage<TaxRate>(db, {
    columns: rates.columns(db),
    from: db`tax_rates`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.taxrate_ids?.length ? db`and id = any(${filter.taxrate_ids})` : db``}
      ${filter.taxrate_codes?.length ? db`and code = any(${filter.taxrate_codes})` : db``}
      ${filter.scope ? db`and scope = ${filter.scope}` : db``}`,
    search,
  });
}

/** Whether a published association names the rate. */
export async function isTaxRateUsed(db: Db, scope: Scope, id: string): Promise<boolean> {
  const [row] = await db`
    select 1 from tax_associations
     where ${inScope(db, scope)} and tax_rate_id = ${id} and status = 'published'
     limit 1`;
  return row !== undefined;
}

/** An association as stored, without its rate. */
export type TaxAssociationRow = Omit<TaxAssociation, 'tax_rate'>;

const associations = tableOf<TaxAssociationRow>({
  name: 'tax_associations',
  noun: 'Tax association',
  columns: (db) => db`
  id, tenant_id, environment_id, tax_rate_id, entity_type, entity_id, priority, auto_apply, currency,
  tax_behavior, start_date, end_date, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
});

export const updateTaxAssociationRow = associations.change;

/** The association with its rate, including archived ones. 404 if it is unknown or belongs to another scope. */
export async function getTaxAssociation(db: Db, scope: Scope, id: string): Promise<TaxAssociation> {
  const row = await associations.get(db, scope, id);
  const [association] = await withTaxRates(db, scope, [row]);
  return association!;
}

/** Published associations of one entity, including ended ones, with their rates. */
export async function findTaxAssociationsOf(
  db: Db,
  scope: Scope,
  entityType: TaxAssociation['entity_type'],
  entityIds: readonly string[],
): Promise<TaxAssociation[]> {
  if (entityIds.length === 0) return [];
  const rows = await db<TaxAssociationRow[]>`
    select ${associations.columns(db)} from tax_associations
     where ${inScope(db, scope)}
       and entity_type = ${entityType} and entity_id = any(${entityIds as string[]})
       and status = 'published'
     order by priority desc, created_at, id`;
  return await withTaxRates(db, scope, rows);
}

/** An association with the rate fields that decide the tax, and its owner. */
export interface OwnedTaxAssociation extends ResolvableTax {
  readonly entity_id: string;
}

/**
 * Published associations that may tax invoices of these owners: their own and the tenant's, highest priority
 * first.
 */
export function findOwnedTaxes(
  db: Db,
  scope: Scope,
  owners: {
    readonly subscription_ids: readonly string[];
    readonly customer_ids: readonly string[];
  },
): Promise<OwnedTaxAssociation[]> {
  return db<OwnedTaxAssociation[]>`
    select a.id, a.entity_type as level, a.entity_id, a.tax_rate_id, r.tax_rate_status,
           r.percentage_value, a.tax_behavior, a.priority, a.auto_apply, a.currency,
           a.start_date, a.end_date
      from tax_associations a
      join tax_rates r on r.id = a.tax_rate_id and ${inScope(db, scope, 'r')}
     where ${inScope(db, scope, 'a')} and a.status = 'published'
       and (a.entity_type, a.entity_id) in (
             select 'subscription', unnest(${owners.subscription_ids as string[]}::text[])
             union all
             select 'customer', unnest(${owners.customer_ids as string[]}::text[])
             union all
             select 'tenant', ${scope.tenant_id})
     order by a.priority desc, a.created_at, a.id`;
}

export interface TaxAssociationFilter {
  readonly tax_association_ids?: string[] | null;
  readonly tax_rate_ids?: string[] | null;
  readonly tax_rate_id?: string | null;
  readonly entity_type?: string | null;
  readonly entity_id?: string | null;
  readonly currency?: string | null;
  readonly auto_apply?: boolean | null;
  readonly search: Search;
}

/** Leaves out archived associations unless a status is requested. */
export async function searchTaxAssociations(
  db: Db,
  scope: Scope,
  filter: TaxAssociationFilter,
): Promise<Page<TaxAssociation>> {
  const { search } = filter;
  const page = await findPage<TaxAssociationRow>(db, {
    columns: associations.columns(db),
    from: db`tax_associations`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.tax_association_ids?.length ? db`and id = any(${filter.tax_association_ids})` : db``}
      ${filter.tax_rate_ids?.length ? db`and tax_rate_id = any(${filter.tax_rate_ids})` : db``}
      ${filter.tax_rate_id ? db`and tax_rate_id = ${filter.tax_rate_id}` : db``}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.entity_id ? db`and entity_id = ${filter.entity_id}` : db``}
      ${filter.currency ? db`and currency = ${filter.currency.toLowerCase()}` : db``}
      ${filter.auto_apply == null ? db`` : db`and auto_apply = ${filter.auto_apply}`}`,
    search,
  });
  const items = search.expand.has('tax_rate')
    ? await withTaxRates(db, scope, page.items)
    : page.items.map((row) => ({ ...row, tax_rate: null }));
  return { ...page, items };
}

async function withTaxRates(
  db: Db,
  scope: Scope,
  rows: readonly TaxAssociationRow[],
): Promise<TaxAssociation[]> {
  const ids = [...new Set(rows.map((row) => row.tax_rate_id))];
  const rateOf = byId(await findTaxRates(db, scope, ids));
  return rows.map((row) => ({ ...row, tax_rate: rateOf.get(row.tax_rate_id) ?? null }));
}

/** Inserts the association of the rate with that code. 409 if the entity has one of the rate in that currency. */
export async function insertTaxAssociation(
  tx: Transaction,
  row: TaxAssociationRow,
  rateCode: string,
): Promise<TaxAssociationRow> {
  try {
    return await associations.insert(tx, row);
  } catch (error) {
    throw violatedConstraint(error) === 'tax_associations_entity_key'
      ? alreadyExists('tax association of this entity and currency', 'tax_rate_code', rateCode)
      : error;
  }
}
