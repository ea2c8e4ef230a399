import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { COLLECTION_STATUSES } from '../../../schemas/invoice-collection.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList, columnsOf, jsonOf } from '../../../postgres/parameters.ts';
import {
  livesBy,
  ownedBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';

/** A row of `invoice_collections`. */
export interface CollectionRow extends Scope {
  readonly invoice_id: string;
  readonly customer_id: string;
  /** Null: the invoice of an automatic top-up. */
  readonly subscription_id: string | null;
  readonly collection_status: (typeof COLLECTION_STATUSES)[number];
  readonly attempt_count: number;
  readonly next_attempt_at: string | null;
  readonly last_payment_id: string | null;
  readonly pending_action: 'cancel' | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const COLLECTION_COLUMNS = [
  'invoice_id', 'tenant_id', 'environment_id', 'customer_id', 'subscription_id', 'collection_status',
  'attempt_count', 'next_attempt_at', 'last_payment_id', 'pending_action', 'created_at', 'updated_at',
] as const satisfies readonly (keyof CollectionRow)[]; // prettier-ignore

/** An invoice to charge, with the method that its subscription names. */
export interface ToCollect {
  readonly invoice: Pick<InvoiceRecord, 'id' | 'customer_id' | 'subscription_id'>;
  readonly method: string | null;
}

/**
 * Schedules the charge of issued invoices whose customers have a usable method: the one that the subscription
 * names, or the default. Without one nothing is written, and the invoice stays PENDING (money 8.6).
 */
export async function scheduleCollections(
  tx: Transaction,
  scope: Scope,
  at: string,
  invoices: readonly ToCollect[],
): Promise<void> {
  if (invoices.length === 0) return;
  const rows = invoices.map(({ invoice, method }) => ({
    invoice_id: invoice.id,
    customer_id: invoice.customer_id,
    subscription_id: invoice.subscription_id,
    method,
  }));
  await tx`
    insert into invoice_collections
           (invoice_id, tenant_id, environment_id, customer_id, subscription_id, collection_status,
            next_attempt_at, created_at, updated_at)
    select r.invoice_id, ${scope.tenant_id}, ${scope.environment_id}, r.customer_id, r.subscription_id,
           'scheduled', ${at}, ${at}, ${at}
      from jsonb_to_recordset(${jsonOf(tx, rows)})
           as r(invoice_id text, customer_id text, subscription_id text, method text)
     where exists (
       select from payment_methods m
         join connections c on c.id = m.connection_id and c.status = 'published'
        where ${inScope(tx, scope, 'm')} and m.customer_id = r.customer_id and m.status = 'published'
          and (m.is_default or m.id = r.method or m.gateway_method_id = r.method))
        on conflict (invoice_id) do nothing`;
}

/** The row of the invoice, locked; null if it is not charged automatically. */
export async function lockCollection(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
): Promise<CollectionRow | null> {
  const [row] = await tx<CollectionRow[]>`
    select ${columnList(tx, COLLECTION_COLUMNS)} from invoice_collections
     where ${inScope(tx, scope)} and invoice_id = ${invoiceId} for update`;
  return row ?? null;
}

/** The caller holds the row's lock. */
export async function updateCollection(
  tx: Transaction,
  scope: Scope,
  invoiceId: string,
  changes: Partial<CollectionRow>,
): Promise<void> {
  await tx`
    update invoice_collections set ${columnsOf(tx, changes)}
     where ${inScope(tx, scope)} and invoice_id = ${invoiceId}`;
}

/** The rows of invoices that are charged automatically, unordered; the others are left out. */
export async function findCollections(
  db: Db,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<CollectionRow[]> {
  if (invoiceIds.length === 0) return [];
  return await db<CollectionRow[]>`
    select ${columnList(db, COLLECTION_COLUMNS)} from invoice_collections
     where ${inScope(db, scope)} and invoice_id = any(${invoiceIds as string[]}::text[])`;
}

/** Invoices of the subscription whose charge is due. */
export async function dueCollectionsOf(
  db: Db,
  scope: Scope,
  subscriptionId: string,
  at: string,
): Promise<{ readonly invoice_id: string }[]> {
  return await db<{ invoice_id: string }[]>`
    select invoice_id from invoice_collections
     where ${inScope(db, scope)} and subscription_id = ${subscriptionId}
       and collection_status = 'scheduled' and next_attempt_at <= ${at}
     order by created_at, invoice_id`;
}

/** Environments with charges that are due, or with subscriptions to cancel. */
export async function scopesToCollect(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from (
      select tenant_id, environment_id, customer_id from invoice_collections
       where collection_status = 'scheduled' and next_attempt_at <= ${due.at}
      union all
      select tenant_id, environment_id, customer_id from invoice_collections
       where pending_action is not null) due
     where ${livesBy(db, due, db`due.customer_id`)}
     order by 1, 2`;
}

/** When charges of the clock's customers are due; a cancellation after the last one is due at once. */
export const collectionTimes = (db: Db, clock: ClockRef): Fragment => db`
  select case when k.pending_action is null then k.next_attempt_at else k.updated_at end as at
    from customers c join invoice_collections k on k.customer_id = c.id
   where ${ownedBy(db, clock, 'k')}
     and (k.collection_status = 'scheduled' or k.pending_action is not null)`;

/** A position in the order of due charges: the next page begins after it. */
export interface CollectionCursor {
  readonly next_attempt_at: string;
  readonly invoice_id: string;
}

/** A page of the charges that are due, the longest due first. */
export async function dueCollections(
  db: Db,
  scope: Scope,
  page: {
    readonly due: Timeline;
    readonly after: CollectionCursor | null;
    readonly limit: number;
  },
): Promise<CollectionCursor[]> {
  const { due, after, limit } = page;
  return await db<CollectionCursor[]>`
    select invoice_id, next_attempt_at from invoice_collections
     where ${inScope(db, scope)} and collection_status = 'scheduled' and next_attempt_at <= ${due.at}
       and ${livesBy(db, due, db`invoice_collections.customer_id`)}
       ${after === null ? db`` : db`and (next_attempt_at, invoice_id) > (${after.next_attempt_at}, ${after.invoice_id})`}
     order by next_attempt_at, invoice_id limit ${limit}`;
}

/** A subscription to cancel, with the invoice that was not paid. */
export interface PendingCancellation {
  readonly invoice_id: string;
  readonly subscription_id: string;
}

/** A page of the subscriptions to cancel, because their last charge failed; of invoices greater than `after`. */
export async function pendingCancellations(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<PendingCancellation[]> {
  const { due, after, limit } = page;
  return await db<PendingCancellation[]>`
    select invoice_id, subscription_id from invoice_collections
     where ${inScope(db, scope)} and pending_action = 'cancel' and subscription_id is not null
       and ${livesBy(db, due, db`invoice_collections.customer_id`)} and invoice_id > ${after}
     order by invoice_id limit ${limit}`;
}

/** Whether a charge of the subscription runs, or its first one is scheduled. */
export async function hasChargeInFlight(
  db: Db,
  scope: Scope,
  subscriptionId: string,
): Promise<boolean> {
  const found = await db`
    select from invoice_collections
     where ${inScope(db, scope)} and subscription_id = ${subscriptionId}
       and (collection_status = 'attempting'
            or (collection_status = 'scheduled' and attempt_count = 0))`;
  return found.length > 0;
}
