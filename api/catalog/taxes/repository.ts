import { alreadyExists, notFound } from '../../../domain/errors.ts';
import type { TaxAssociation as ResolvableTax } from '../../../domain/invoicing/tax-resolution.ts';
import {
  inScope,
  oneOf,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { TaxAssociation, TaxRate } from '../../../schemas/tax.ts';

const rateColumns = (db: Db) => db`
  id, tenant_id, environment_id, name, code, description, tax_rate_type, percentage_value,
  null as fixed_value, scope, tax_rate_status, metadata, status,
  created_at, updated_at, created_by, updated_by`;

/** The rate, archived ones included. 404 for a missing and for another scope's. */
export async function findTaxRate(db: Db, scope: Scope, id: string): Promise<TaxRate> {
  const [row] = await findTaxRates(db, scope, [id]);
  if (row === undefined) throw notFound('Tax rate', id);
  return row;
}

/** Those of the rates that exist in the scope, in no order. */
export async function findTaxRates(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<TaxRate[]> {
  if (ids.length === 0) return [];
  return await db<TaxRate[]>`
    select ${rateColumns(db)} from tax_rates
     where ${inScope(db, scope)} and id ${oneOf(db, ids)}`;
}

/** The published rate with the code, which stays until the transaction ends. 404 when there is none. */
export async function shareTaxRateByCode(
  tx: Transaction,
  scope: Scope,
  code: string,
): Promise<TaxRate> {
  const [row] = await tx<TaxRate[]>`
    select ${rateColumns(tx)} from tax_rates
     where ${inScope(tx, scope)} and code = ${code} and status = 'published'
       for share`;
  if (row === undefined) throw notFound('Tax rate', code);
  return row;
}

export async function lockTaxRate(tx: Transaction, scope: Scope, id: string): Promise<TaxRate> {
  const [row] = await tx<TaxRate[]>`
    select ${rateColumns(tx)} from tax_rates
     where ${inScope(tx, scope)} and id = ${id}
       for update`;
  if (row === undefined) throw notFound('Tax rate', id);
  return row;
}

export interface TaxRateFilter {
  readonly taxrate_ids?: string[] | null;
  readonly taxrate_codes?: string[] | null;
  readonly scope?: string | null;
  readonly search: Search;
}

/** Archived rates are left out unless a status is asked for. */
export function searchTaxRates(
  db: Db,
  scope: Scope,
  filter: TaxRateFilter,
): Promise<Page<TaxRate>> {
  const { search } = filter;
  return findPage<TaxRate>(db, {
    columns: rateColumns(db),
    from: db`tax_rates`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.taxrate_ids?.length ? db`and id = any(${filter.taxrate_ids})` : db``}
      ${filter.taxrate_codes?.length ? db`and code = any(${filter.taxrate_codes})` : db``}
      ${filter.scope ? db`and scope = ${filter.scope}` : db``}`,
    search,
  });
}

export async function insertTaxRate(tx: Transaction, rate: TaxRate): Promise<TaxRate> {
  const { fixed_value: _, ...row } = rate;
  try {
    await tx`insert into tax_rates ${tx({ ...row, metadata: tx.json(row.metadata) })}`;
    return rate;
  } catch (error) {
    throw codeTaken(error, rate.code);
  }
}

export async function updateTaxRateRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<Omit<TaxRate, 'fixed_value'>>,
): Promise<TaxRate> {
  const { metadata, ...rest } = changes;
  try {
    const [row] = await tx<TaxRate[]>`
      update tax_rates
         set ${tx({ ...rest, ...(metadata ? { metadata: tx.json(metadata) } : {}) } as never)}
       where ${inScope(tx, scope)} and id = ${id}
      returning ${rateColumns(tx)}`;
    if (row === undefined) throw notFound('Tax rate', id);
    return row;
  } catch (error) {
    throw codeTaken(error, changes.code ?? '');
  }
}

const codeTaken = (error: unknown, code: string): unknown =>
  violatedConstraint(error) === 'tax_rates_code_key'
    ? alreadyExists('tax rate', 'code', code)
    : error;

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

const associationColumns = (db: Db) => db`
  id, tenant_id, environment_id, tax_rate_id, entity_type, entity_id, priority, auto_apply, currency,
  tax_behavior, start_date, end_date, metadata, status,
  created_at, updated_at, created_by, updated_by`;

export async function findTaxAssociation(
  db: Db,
  scope: Scope,
  id: string,
): Promise<TaxAssociation> {
  const [row] = await db<TaxAssociationRow[]>`
    select ${associationColumns(db)} from tax_associations
     where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Tax association', id);
  const [association] = await withTaxRates(db, scope, [row]);
  return association!;
}

/** Published associations of one entity, ended ones included, with their rates. */
export async function findTaxAssociationsOf(
  db: Db,
  scope: Scope,
  entityType: TaxAssociation['entity_type'],
  entityIds: readonly string[],
): Promise<TaxAssociation[]> {
  if (entityIds.length === 0) return [];
  const rows = await db<TaxAssociationRow[]>`
    select ${associationColumns(db)} from tax_associations
     where ${inScope(db, scope)}
       and entity_type = ${entityType} and entity_id = any(${entityIds as string[]})
       and status = 'published'
     order by priority desc, created_at, id`;
  return await withTaxRates(db, scope, rows);
}

/** An association with what of its rate decides, and whose it is. */
export interface OwnedTaxAssociation extends ResolvableTax {
  readonly entity_id: string;
}

/** Published associations that may tax invoices of these owners: theirs and the tenant's, highest priority first. */
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

export async function searchTaxAssociations(
  db: Db,
  scope: Scope,
  filter: TaxAssociationFilter,
): Promise<Page<TaxAssociation>> {
  const { search } = filter;
  const page = await findPage<TaxAssociationRow>(db, {
    columns: associationColumns(db),
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
  const rates = await findTaxRates(db, scope, [...new Set(rows.map((row) => row.tax_rate_id))]);
  const rateOf = new Map(rates.map((rate) => [rate.id, rate]));
  return rows.map((row) => ({ ...row, tax_rate: rateOf.get(row.tax_rate_id) ?? null }));
}

export async function insertTaxAssociation(
  tx: Transaction,
  row: TaxAssociationRow,
  rateCode: string,
): Promise<TaxAssociationRow> {
  try {
    await tx`insert into tax_associations ${tx({ ...row, metadata: tx.json(row.metadata) })}`;
    return row;
  } catch (error) {
    throw violatedConstraint(error) === 'tax_associations_entity_key'
      ? alreadyExists('tax association of this entity and currency', 'tax_rate_code', rateCode)
      : error;
  }
}

export async function updateTaxAssociationRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<TaxAssociationRow>,
): Promise<TaxAssociationRow> {
  const { metadata, ...rest } = changes;
  const [row] = await tx<TaxAssociationRow[]>`
    update tax_associations
       set ${tx({ ...rest, ...(metadata ? { metadata: tx.json(metadata) } : {}) } as never)}
     where ${inScope(tx, scope)} and id = ${id}
    returning ${associationColumns(tx)}`;
  if (row === undefined) throw notFound('Tax association', id);
  return row;
}
