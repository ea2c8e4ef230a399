import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  oneOf,
  violatedConstraint,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnsOf, jsonOf } from '../../../postgres/parameters.ts';
import { insertIntoOutbox, type OutboxPayload } from '../../../postgres/tables/outbox.ts';
import { findPage, hasKeys, metadataCondition } from '../../../postgres/search.ts';
import type { Customer } from '../../../schemas/customer.ts';
import { insertOnboarding, type Onboarding } from './onboarding-repository.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** A customer as stored, with its provider links. */
export type CustomerRow = Omit<Customer, 'parent_customer_id' | 'parent_customer'>;

const columns = (db: Db) => db`
  id, tenant_id, environment_id, external_id, name, email, contact, contact_persons,
  address_line1, address_line2, address_city, address_state, address_postal_code, address_country,
  timezone, billing_currency, tax_treatment, test_clock_id, metadata, status,
  created_at, updated_at, created_by, updated_by,
  coalesce(
    (select jsonb_agg(
              to_jsonb(m) || jsonb_build_object(
                'created_at', ${utcText(db, db`m.created_at`)},
                'updated_at', ${utcText(db, db`m.updated_at`)})
              order by m.created_at desc, m.id desc)
       from integration_mappings m
      where m.tenant_id = customers.tenant_id and m.environment_id = customers.environment_id
        and m.entity_type = 'customer' and m.entity_id = customers.id and m.status = 'published'),
    '[]') as integrations`;

/** An instant inside JSON, formatted as in a column: UTC with milliseconds. */
const utcText = (db: Db, column: Fragment): Fragment =>
  db`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** A customer as answered: there are no hierarchies of customers. */
export const customerAnswer = (row: CustomerRow): Customer => ({
  ...row,
  parent_customer_id: null,
  parent_customer: null,
});

/** The customer, including archived ones. 404 if it does not exist or belongs to another scope. */
export async function getCustomer(db: Db, scope: Scope, id: string): Promise<Customer> {
  const [row] = await findCustomers(db, scope, [id]);
  if (row === undefined) throw notFound('Customer', id);
  return row;
}

/** Customers of the scope with these ids, unordered. */
export async function findCustomers(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<Customer[]> {
  if (ids.length === 0) return [];
  const rows = await db<CustomerRow[]>`
    select ${columns(db)} from customers where ${inScope(db, scope)} and id ${oneOf(db, ids)}`;
  return rows.map(customerAnswer);
}

/** The published customer with that external id. 404 if not found. */
export async function getCustomerByExternalId(
  db: Db,
  scope: Scope,
  externalId: string,
): Promise<Customer> {
  const [row] = await db<CustomerRow[]>`
    select ${columns(db)} from customers
     where ${inScope(db, scope)} and external_id = ${externalId} and status = 'published'`;
  if (row === undefined) throw notFound('Customer', externalId);
  return customerAnswer(row);
}

/**
 * The customer, locked until the transaction ends. The lock does not stop inserts of rows that refer to the customer:
 * a command that must wait for it locks the customer too. With the stronger lock, a command that has a wallet and
 * inserts such a row could wait for one that has the customer and wants the wallet, which is a deadlock.
 */
export async function lockCustomer(
  tx: Transaction,
  scope: Scope,
  by: { readonly id: string } | { readonly external_id: string },
): Promise<CustomerRow> {
  const condition: Fragment =
    'id' in by ? tx`id = ${by.id}` : tx`external_id = ${by.external_id} and status = 'published'`;
  const [row] = await tx<CustomerRow[]>`
    select ${columns(tx)} from customers where ${inScope(tx, scope)} and ${condition} for no key update`;
  if (row === undefined) throw notFound('Customer', 'id' in by ? by.id : by.external_id);
  return row;
}

export interface CustomerFilter {
  readonly customer_ids?: string[] | null;
  readonly external_ids?: string[] | null;
  readonly external_id?: string | null;
  readonly email?: string | null;
  readonly metadata?: Record<string, string> | null;
  readonly search: Search;
}

/** Includes archived customers unless a status is requested (specification, Customer). */
export async function searchCustomers(
  db: Db,
  scope: Scope,
  filter: CustomerFilter,
): Promise<Page<Customer>> {
  const { search, customer_ids, external_ids, external_id, email } = filter;
  const isNarrowed = customer_ids?.length || external_ids?.length || external_id || email;
  const isWhole = !isNarrowed && !hasKeys(filter.metadata);
  const page = await findPage<CustomerRow>(db, {
    columns: columns(db),
    from: db`customers`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`` : db`and status = ${search.status}`}
      ${filter.customer_ids?.length ? db`and id = any(${filter.customer_ids})` : db``}
      ${filter.external_ids?.length ? db`and external_id = any(${filter.external_ids})` : db``}
      ${filter.external_id ? db`and external_id = ${filter.external_id}` : db``}
      ${filter.email ? db`and lower(email) = lower(${filter.email})` : db``}
      ${metadataCondition(db, filter.metadata)}`,
    search,
    neverNull: ['name', 'external_id', 'tax_treatment'],
    counted: isWhole ? { table: 'customers', scope } : null,
  });
  return { ...page, items: page.items.map(customerAnswer) };
}

const written = (db: Db, row: Partial<CustomerRow>) => ({
  ...row,
  ...('contact_persons' in row ? { contact_persons: jsonOf(db, row.contact_persons) } : {}),
  ...('metadata' in row ? { metadata: db.json(row.metadata ?? {}) } : {}),
});

/**
 * Writes the row. `created` is the payload of `customer.created`: if given, the same statement writes the
 * notification. With `onboarding` it writes what the setting asks to be done for the customer.
 */
export async function insertCustomer(
  db: Db,
  row: Omit<CustomerRow, 'integrations'>,
  {
    created,
    onboarding,
  }: { readonly created: OutboxPayload | null; readonly onboarding: Onboarding | null },
): Promise<void> {
  const event = { scope: row, event_type: 'customer.created', payload: created ?? {} } as const;
  const beside = [
    ...(created === null ? [] : [db`told as (${insertIntoOutbox(db, [event])})`]),
    ...(onboarding === null ? [] : [db`onboarded as (${insertOnboarding(db, row, onboarding)})`]),
  ];
  const parts = beside.map((part, index) => db`${index === 0 ? db`with` : db`,`} ${part}`);
  const before = parts.length === 0 ? db`` : parts;
  try {
    await db`${before} insert into customers ${columnsOf(db, written(db, row))}`;
  } catch (error) {
    throw externalIdTaken(error, row.external_id);
  }
}

/** Changes the given columns. 404 if the customer is unknown or in another scope, 409 if the external id is taken. */
export async function updateCustomerRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<CustomerRow>,
): Promise<CustomerRow> {
  try {
    const [row] = await tx<CustomerRow[]>`
      update customers set ${columnsOf(tx, written(tx, changes))}
       where ${inScope(tx, scope)} and id = ${id}
      returning ${columns(tx)}`;
    if (row === undefined) throw notFound('Customer', id);
    return row;
  } catch (error) {
    throw externalIdTaken(error, changes.external_id ?? '');
  }
}

const externalIdTaken = (error: unknown, externalId: string): unknown =>
  violatedConstraint(error) === 'customers_external_id_key'
    ? alreadyExists('customer', 'external_id', externalId)
    : error;
