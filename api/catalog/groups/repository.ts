import { alreadyExists, invalidField, notFound } from '../../../domain/errors.ts';
import { inScope, oneOf, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Group } from '../../../schemas/group.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';

const groups = tableOf<Group, Omit<Group, 'entity_ids'>>({
  name: 'groups',
  noun: 'Group',
  columns: (db) => db`
  id, tenant_id, environment_id, name, lookup_key, entity_type, metadata, status,
  created_at, updated_at, created_by, updated_by,
  case entity_type
    when 'price' then coalesce(
      (select array_agg(m.id order by m.created_at, m.id) from prices m
        where m.group_id = groups.id and m.status = 'published'), '{}')
    else coalesce(
      (select array_agg(m.id order by m.created_at, m.id) from features m
        where m.group_id = groups.id and m.status = 'published'), '{}')
  end as entity_ids`,
  json: ['metadata'],
  taken: {
    groups_lookup_key_key: ({ lookup_key }) =>
      alreadyExists('group', 'lookup_key', lookup_key ?? ''),
  },
});

/** The group, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getGroup = groups.get;

/** Groups of the scope with these ids, unordered. */
export const findGroups = groups.find;
export const insertGroup = groups.insert;

/**
 * Throws unless the id names a published group for that kind of record: 404 if unknown, 400 if of another
 * kind. Prevents archiving of the group until the transaction ends, so an archived group never has a member.
 */
export async function assertGroupOf(
  db: Transaction,
  scope: Scope,
  id: string,
  entityType: Group['entity_type'],
): Promise<void> {
  const group = await publishedGroup(db, scope, id);
  if (group === undefined) throw notFound('Group', id);
  if (group.entity_type !== entityType)
    throw invalidField('group_id', `is a group of ${group.entity_type}s, not of ${entityType}s`);
}

/**
 * The same for a price: 400 unless the id names a published group of prices, because the group is one of the
 * price's terms (as the reference answers).
 */
export async function assertPriceGroup(db: Transaction, scope: Scope, id: string): Promise<void> {
  const group = await publishedGroup(db, scope, id);
  if (group?.entity_type !== 'price') throw noPriceGroup();
}

/** 400: the group is not one of prices. */
export const noPriceGroup = () => invalidField('group_id', 'must be a group of entity type price');

/** The group if it is published. Prevents its archiving until the transaction ends. */
export async function publishedGroup(
  db: Transaction,
  scope: Scope,
  id: string,
): Promise<Pick<Group, 'id' | 'entity_type'> | undefined> {
  const [row] = await publishedGroups(db, scope, [id]);
  return row;
}

/**
 * The group for a copy of its member; null if the group is being archived, because that would miss the copy.
 */
export async function groupOfCopy(
  db: Transaction,
  scope: Scope,
  id: string | null,
): Promise<string | null> {
  return id === null ? null : ((await publishedGroup(db, scope, id))?.id ?? null);
}

/** Published groups with these ids, unordered. Prevents their archiving until the transaction ends. */
export async function publishedGroups(
  db: Transaction,
  scope: Scope,
  ids: readonly string[],
): Promise<Pick<Group, 'id' | 'entity_type'>[]> {
  if (ids.length === 0) return [];
  return await db<Pick<Group, 'id' | 'entity_type'>[]>`
    select id, entity_type from groups
     where ${inScope(db, scope)} and id ${oneOf(db, ids)} and status = 'published'
     order by id
       for share`;
}

export interface GroupFilter {
  readonly group_ids?: string[] | null;
  readonly entity_type?: string | null;
  readonly name?: string | null;
  readonly lookup_key?: string | null;
  readonly search: Search;
}

/** Leaves out archived groups unless a status is requested. */
export function searchGroups(db: Db, scope: Scope, filter: GroupFilter): Promise<Page<Group>> {
  const { search } = filter;
  return findPage<Group>(db, {
    columns: groups.columns(db),
    from: db`groups`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.group_ids?.length ? db`and id = any(${filter.group_ids})` : db``}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.name ? db`and name = ${filter.name}` : db``}
      ${filter.lookup_key ? db`and lookup_key = ${filter.lookup_key}` : db``}`,
    search,
  });
}

/**
 * Archives the group and removes its members. A price that gets its next version in the meantime is waited
 * for, and that version has the group too. So the prices are processed until none is left.
 */
export async function archiveGroup(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { scope } = caller;
  const [row] = await tx`
    update groups set ${tx({ status: 'archived', ...changed(deps, caller) })}
     where ${inScope(tx, scope)} and id = ${id}
    returning id`;
  if (row === undefined) throw notFound('Group', id);
  let left: number;
  do {
    const { count } = await tx`
      update prices set group_id = null where ${inScope(tx, scope)} and group_id = ${id}`;
    left = count;
  } while (left > 0);
  await tx`update features set group_id = null where ${inScope(tx, scope)} and group_id = ${id}`;
}
