import { invalidField, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import type { Price } from '../../../schemas/price.ts';

/** The plan, addon, subscription or costsheet that owns prices and entitlements. */
export interface Entity {
  readonly id: string;
  /** Default name of the entity's prices; null if the entity has none. */
  readonly name: string | null;
}

/**
 * The owner of a new price or entitlement. 404 if it does not exist in the scope, 400 if it is archived: nothing
 * can be sold through it. Prevents its archiving until the transaction ends.
 */
export async function shareEntity(
  db: Transaction,
  scope: Scope,
  entityType: Exclude<Price['entity_type'], 'PRICE'>,
  id: string,
): Promise<Entity> {
  const [row] = await db<(Entity & { status: string })[]>`
    select id, status, ${nameColumn(db, entityType)} as name
      from ${TABLES[entityType](db)}
     where ${inScope(db, scope)} and id = ${id}
       for share`;
  if (row === undefined) throw notFound(NOUNS[entityType], id);
  if (row.status !== 'published')
    throw invalidField('entity_id', `${NOUNS[entityType]} ${id} is ${row.status}`);
  return { id: row.id, name: row.name };
}

/** Name of the entity; null if it has none or does not exist in the scope. */
export async function findEntityName(
  db: Transaction,
  scope: Scope,
  entityType: Price['entity_type'],
  id: string,
): Promise<string | null> {
  if (entityType === 'PRICE') return null;
  const [row] = await db<{ name: string | null }[]>`
    select ${nameColumn(db, entityType)} as name
      from ${TABLES[entityType](db)}
     where ${inScope(db, scope)} and id = ${id}`;
  return row?.name ?? null;
}

const TABLES = {
  PLAN: (db: Db) => db`plans`,
  ADDON: (db: Db) => db`addons`,
  SUBSCRIPTION: (db: Db) => db`subscriptions`,
  COSTSHEET: (db: Db) => db`costsheets`,
} as const;

const NOUNS = {
  PLAN: 'Plan',
  ADDON: 'Addon',
  SUBSCRIPTION: 'Subscription',
  COSTSHEET: 'Costsheet',
} as const;

const nameColumn = (db: Db, entityType: string): Fragment =>
  entityType === 'SUBSCRIPTION' ? db`null::text` : db`name`;
