import { invalidField, invalidOperation, notFound } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { SyncBody } from '../../../schemas/integration.ts';
import { SYNCED_ENTITIES, type LINKED_ENTITY_TYPES } from '../../../schemas/words.ts';
import { publishedConnections } from '../connections/repository.ts';
import { hasEntity } from './repository.ts';

type LinkedEntityType = (typeof LINKED_ENTITY_TYPES)[number];

/** Tables of the record kinds. */
const TABLES: Readonly<Partial<Record<LinkedEntityType, string>>> = {
  customer: 'customers',
  plan: 'plans',
  invoice: 'invoices',
  subscription: 'subscriptions',
  addon: 'addons',
  price: 'prices',
  invoice_line_item: 'invoice_line_items',
  subscription_line_item: 'subscription_line_items',
};

/** Kinds that exist only at providers: they name no record of the product. */
const OF_PROVIDERS: readonly LinkedEntityType[] = ['item', 'item_price'];

/** Throws 404 unless the record exists in the scope. */
export async function assertLinkedEntity(
  db: Db,
  scope: Scope,
  entityType: LinkedEntityType,
  entityId: string,
): Promise<void> {
  if (OF_PROVIDERS.includes(entityType)) return;
  const table = TABLES[entityType];
  if (table === undefined) throw notFound(entityType, entityId);
  if (!(await hasEntity(db, scope, table, entityId))) throw notFound(entityType, entityId);
}

/** 400: the environment has no connection to the provider. */
export const notConnected = (provider: string) =>
  invalidField('provider_type', `the environment has no connection to ${provider}`);

/** Refuses to sync: no connection syncs the kind, or this version has no client for those that do. */
export async function refuseSync(db: Db, scope: Scope, body: SyncBody): Promise<never> {
  const { entity_type, provider_type } = body;
  const connections = await publishedConnections(db, scope);
  const way = body.method === 'pull' ? 'inbound' : 'outbound';
  const taking = connections.filter(
    (connection) =>
      (!provider_type || connection.provider_type === provider_type) &&
      (SYNCED_ENTITIES as readonly string[]).includes(entity_type) &&
      connection.sync_config[entity_type as (typeof SYNCED_ENTITIES)[number]][way],
  );
  const names = [...new Set(taking.map((connection) => connection.provider_type))].join(', ');
  throw invalidOperation(
    taking.length === 0
      ? `No connection syncs records of the kind ${entity_type} ${way}.`
      : `Records are linked with ${names}, not synced, in this version.`,
    'entity_type',
  );
}
