import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { pageBelow } from '../../../postgres/page-below.ts';
import { tableOf } from '../../../postgres/table.ts';
import type {
  AddonAssociationQuery,
  AddonAssociationRow,
} from '../../../schemas/addon-association.ts';
import type { Page } from '../../../schemas/search.ts';

const associations = tableOf<AddonAssociationRow>({
  name: 'addon_associations',
  noun: 'Addon association',
  columns: (db) => db`
  id, tenant_id, environment_id, subscription_id, addon_id, quantity, addon_status, start_date, end_date,
  cancelled_at, cancellation_reason, metadata, status, created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
});

/** The association. 404 if it is unknown or belongs to another scope. */
export const getAddonAssociation = associations.get;
export const lockAddonAssociation = associations.lock;
export const insertAddonAssociation = associations.insert;
export const changeAddonAssociation = associations.change;

/** Addons of the subscriptions, ended ones included, oldest first. */
export async function findAddonAssociationsOf(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<AddonAssociationRow[]> {
  if (subscriptionIds.length === 0) return [];
  return await db<AddonAssociationRow[]>`
    select ${associations.columns(db)} from addon_associations
     where ${inScope(db, scope)} and status = 'published'
       and subscription_id = any(${subscriptionIds as string[]}::text[])
     order by created_at, id`;
}

/** One page of the addons of a subscription, newest first: by default those that have not ended at `now`. */
export function pageOfAddonAssociations(
  db: Db,
  scope: Scope,
  subscriptionId: string,
  query: AddonAssociationQuery,
  now: string,
): Promise<Page<AddonAssociationRow>> {
  const { addon_statuses: statuses, active_at: at } = query;
  const isOpen = (time: string) => db`and (end_date is null or end_date > ${time})`;
  const inForce =
    at !== undefined
      ? db`and start_date <= ${at} ${isOpen(at)}`
      : statuses === undefined
        ? isOpen(now)
        : db``;
  return pageBelow(
    db,
    {
      columns: associations.columns(db),
      table: 'addon_associations',
      where: db`${inScope(db, scope)} and status = 'published'
        and subscription_id = ${subscriptionId} ${inForce}
        ${statuses === undefined ? db`` : db`and addon_status = any(${statuses})`}`,
      order: db`created_at desc, id desc`,
    },
    query,
  );
}
