import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, oneOf, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import { byId, tableOf } from '../../../postgres/table.ts';
import { CouponAssociation, type Coupon } from '../../../schemas/coupon.ts';
import { picked } from '../../conventions/picked.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const coupons = tableOf<Coupon>({
  name: 'coupons',
  noun: 'Coupon',
  columns: (db) => db`
  id, tenant_id, environment_id, name, type, amount_off, percentage_off, currency, cadence,
  duration_in_periods, max_redemptions, total_redemptions, redeem_after, redeem_before, coupon_code,
  rules, metadata, status, created_at, updated_at, created_by, updated_by`,
  json: ['rules', 'metadata'],
  taken: {
    coupons_coupon_code_key: ({ coupon_code }) =>
      alreadyExists('coupon', 'coupon_code', coupon_code ?? ''),
  },
});

/** The coupon, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getCoupon = coupons.get;

/** Coupons of the scope with these ids, unordered. */
export const findCoupons = coupons.find;
export const insertCoupon = coupons.insert;
export const updateCouponRow = coupons.change;

/** The coupons, locked in id order until the transaction ends: redemptions are counted one at a time. */
export async function lockCoupons(
  tx: Transaction,
  scope: Scope,
  ids: readonly string[],
): Promise<Coupon[]> {
  if (ids.length === 0) return [];
  return await tx<Coupon[]>`
    select ${coupons.columns(tx)} from coupons
     where ${inScope(tx, scope)} and id ${oneOf(tx, ids)}
     order by id
       for update`;
}

/** The published coupon with the code, case-insensitive. 404 if not found. */
export async function getCouponByCode(db: Db, scope: Scope, code: string): Promise<Coupon> {
  const [row] = await db<Coupon[]>`
    select ${coupons.columns(db)} from coupons
     where ${inScope(db, scope)}
       and coupon_code = ${code.trim().toLowerCase()} and status = 'published'`;
  if (row === undefined) throw notFound('Coupon', code);
  return row;
}

/** Leaves out archived coupons unless a status is requested. */
export function searchCoupons(
  db: Db,
  scope: Scope,
  filter: { coupon_ids?: string[] | null; coupon_codes?: string[] | null; search: Search },
): Promise<Page<Coupon>> {
  const { coupon_ids, search } = filter;
  const codes = filter.coupon_codes?.map((code) => code.trim().toLowerCase());
  return findPage<Coupon>(db, {
    columns: coupons.columns(db),
    from: db`coupons`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${coupon_ids?.length ? db`and id = any(${coupon_ids})` : db``}
      ${codes?.length ? db`and coupon_code = any(${codes})` : db``}`,
    search,
  });
}

/** An association as stored, without its coupon. */
export interface CouponAssociationRow extends Omit<CouponAssociation, 'coupon'> {
  /** The first association of the coupon to the line or one of its versions (billing 7.3); null: this one. */
  readonly first_association_id?: string | null;
}

/** Id of the first association: the same for all that have one discount on an invoice. */
export const firstAssociationOf = (
  association: Pick<CouponAssociationRow, 'id' | 'first_association_id'>,
): string => association.first_association_id ?? association.id;

/** A stored association with its coupon. */
export interface StoredCouponAssociation extends CouponAssociationRow {
  readonly coupon: CouponAssociation['coupon'];
}

/** What the association of the next line takes over. */
export const continuationOf = (
  association: CouponAssociationRow,
): CouponAssociationRow & { readonly first_association_id: string } => ({
  ...association,
  first_association_id: firstAssociationOf(association),
});

const associations = tableOf<CouponAssociationRow>({
  name: 'coupon_associations',
  noun: 'Coupon association',
  columns: (db) => db`
  id, tenant_id, environment_id, coupon_id, subscription_id, subscription_line_item_id,
  subscription_phase_id, start_date, end_date, first_association_id, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
});

export const insertCouponAssociation = associations.insert;
export const insertCouponAssociations = (
  tx: Transaction,
  rows: readonly CouponAssociationRow[],
): Promise<void> => insertRows(tx, 'coupon_associations', rows);
export const updateCouponAssociationRow = associations.change;

export const couponAssociationAnswer = (stored: StoredCouponAssociation): CouponAssociation =>
  picked(CouponAssociation.shape, stored);

/** The association with its coupon. 404 if it is unknown or belongs to another scope. */
export async function getCouponAssociation(
  db: Db,
  scope: Scope,
  id: string,
): Promise<CouponAssociation> {
  const row = await associations.get(db, scope, id);
  const [association] = await withCoupons(db, scope, [row]);
  return couponAssociationAnswer(association!);
}

/** Published associations of the subscriptions, in the order in which discounts apply (billing 7.3). */
export async function findCouponAssociationsOf(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<StoredCouponAssociation[]> {
  if (subscriptionIds.length === 0) return [];
  const rows = await db<CouponAssociationRow[]>`
    select ${associations.columns(db)} from coupon_associations
     where ${inScope(db, scope)}
       and subscription_id = any(${subscriptionIds as string[]}) and status = 'published'
     order by start_date, id`;
  return await withCoupons(db, scope, rows);
}

export interface CouponAssociationFilter {
  readonly association_ids?: string[] | null;
  readonly subscription_ids?: string[] | null;
  readonly coupon_ids?: string[] | null;
  readonly subscription_line_item_ids?: string[] | null;
  readonly subscription_phase_ids?: string[] | null;
  readonly active_only?: boolean | null;
  readonly period_start?: string | null;
  readonly period_end?: string | null;
  readonly search: Search;
}

/**
 * Associations with their coupons, without archived ones unless a status is requested. `active_only`: those that
 * apply within the requested period, or at `now`.
 */
export async function searchCouponAssociations(
  db: Db,
  scope: Scope,
  filter: CouponAssociationFilter,
  now: string,
): Promise<Page<CouponAssociation>> {
  const { search } = filter;
  const from = filter.period_start ?? now;
  const until = filter.period_end ?? null;
  const page = await findPage<CouponAssociationRow>(db, {
    columns: associations.columns(db),
    from: db`coupon_associations`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.association_ids?.length ? db`and id = any(${filter.association_ids})` : db``}
      ${filter.subscription_ids?.length ? db`and subscription_id = any(${filter.subscription_ids})` : db``}
      ${filter.coupon_ids?.length ? db`and coupon_id = any(${filter.coupon_ids})` : db``}
      ${filter.subscription_line_item_ids?.length ? db`and subscription_line_item_id = any(${filter.subscription_line_item_ids})` : db``}
      ${filter.subscription_phase_ids?.length ? db`and subscription_phase_id = any(${filter.subscription_phase_ids})` : db``}
      ${filter.active_only ? db`and (end_date is null or end_date > ${from})` : db``}
      ${filter.active_only && until !== null ? db`and start_date < ${until}` : db``}
      ${filter.active_only && until === null ? db`and start_date <= ${from}` : db``}`,
    search,
  });
  const items = await withCoupons(db, scope, page.items);
  return { ...page, items: items.map(couponAssociationAnswer) };
}

async function withCoupons(
  db: Db,
  scope: Scope,
  rows: readonly CouponAssociationRow[],
): Promise<StoredCouponAssociation[]> {
  const ids = [...new Set(rows.map((row) => row.coupon_id))];
  const couponOf = byId(await findCoupons(db, scope, ids));
  return rows.map((row) => ({ ...row, coupon: couponOf.get(row.coupon_id) ?? null }));
}

/** Moves associations, each to another line of its subscription. */
export async function moveCouponAssociations(
  tx: Transaction,
  scope: Scope,
  moves: readonly { readonly id: string; readonly line_item_id: string }[],
): Promise<void> {
  if (moves.length === 0) return;
  await tx`
    update coupon_associations a set subscription_line_item_id = moved.line_item_id
      from unnest(${moves.map(({ id }) => id)}::text[],
                  ${moves.map(({ line_item_id }) => line_item_id)}::text[]) as moved (id, line_item_id)
     where ${inScope(tx, scope, 'a')} and a.id = moved.id`;
}

/** Gives associations, each its own, another start and end; a null end is open. */
export async function moveCouponWindows(
  tx: Transaction,
  scope: Scope,
  windows: readonly {
    readonly id: string;
    readonly start_date: string;
    readonly end_date: string | null;
  }[],
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  if (windows.length === 0) return;
  await tx`
    update coupon_associations a
       set ${tx(change)}, start_date = moved.start_date, end_date = moved.end_date
      from unnest(${windows.map(({ id }) => id)}::text[],
                  ${windows.map(({ start_date }) => start_date)}::timestamptz[],
                  ${windows.map(({ end_date }) => end_date)}::timestamptz[])
           as moved (id, start_date, end_date)
     where ${inScope(tx, scope, 'a')} and a.id = moved.id`;
}
