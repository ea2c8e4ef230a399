import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { pageBelow } from '../../../postgres/page-below.ts';
import type { IntegrationMapping } from '../../../schemas/customer.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Page, PageQuery } from '../../../schemas/search.ts';

const columns = (db: Db) => db`
  id, tenant_id, environment_id, entity_type, entity_id, provider_type, provider_entity_id, metadata,
  status, created_at, updated_at, created_by, updated_by`;

/** The provider links of the record, newest first. */
export async function mappingsOf(
  db: Db,
  scope: Scope,
  entityType: string,
  entityIds: readonly string[],
): Promise<IntegrationMapping[]> {
  if (entityIds.length === 0) return [];
  return await db<IntegrationMapping[]>`
    select ${columns(db)} from integration_mappings
     where ${inScope(db, scope)} and entity_type = ${entityType}
       and entity_id = any(${entityIds as string[]}) and status = 'published'
     order by created_at desc, id desc`;
}

/** One page of the links of one record, newest first. */
export const pageOfMappings = (
  db: Db,
  scope: Scope,
  entityType: string,
  entityId: string,
  query: PageQuery,
): Promise<Page<IntegrationMapping>> =>
  pageBelow(
    db,
    {
      columns: columns(db),
      table: 'integration_mappings',
      where: db`${inScope(db, scope)} and entity_type = ${entityType}
        and entity_id = ${entityId} and status = 'published'`,
      order: db`created_at desc, id desc`,
    },
    query,
  );

/** 409 if either record already has another link at the provider. */
export async function insertMapping(
  tx: Transaction,
  mapping: IntegrationMapping,
): Promise<IntegrationMapping> {
  const { entity_id, provider_type, provider_entity_id } = mapping;
  try {
    await tx`
      insert into integration_mappings ${tx({ ...mapping, metadata: tx.json(mapping.metadata) })}`;
    return mapping;
  } catch (error) {
    const key = violatedConstraint(error);
    if (key === 'integration_mappings_entity_key')
      throw alreadyExists(`link to ${provider_type}`, 'entity_id', entity_id);
    if (key === 'integration_mappings_provider_entity_key')
      throw alreadyExists(`link to ${provider_type}`, 'provider_entity_id', provider_entity_id);
    throw error;
  }
}

/** Ends a link named by its id, or by the record and the provider. 404 if not found. */
export async function endMapping(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  by:
    | { readonly id: string }
    | { readonly entity_type: string; readonly entity_id: string; readonly provider_type: string },
): Promise<void> {
  const condition =
    'id' in by
      ? tx`id = ${by.id}`
      : tx`entity_type = ${by.entity_type} and entity_id = ${by.entity_id}
           and provider_type = ${by.provider_type}`;
  const [row] = await tx`
    update integration_mappings set ${tx({ status: 'deleted', ...changed(deps, caller) })}
     where ${inScope(tx, caller.scope)} and ${condition} and status = 'published'
    returning id`;
  if (row === undefined) throw notFound('Link', 'id' in by ? by.id : by.entity_id);
}

/** Whether the table has a record with the id in the scope. */
export async function hasEntity(db: Db, scope: Scope, table: string, id: string): Promise<boolean> {
  const [row] = await db`
    select id from ${db(table)} where ${inScope(db, scope)} and id = ${id}`;
  return row !== undefined;
}
