import { inScope, type Scope, type Transaction } from '../client.ts';
import { PAYLOAD_DAYS } from './forget-expired.ts';

/**
 * Has a notification dispatched again. False if its payload is no longer kept; null if the id is unknown or
 * belongs to another scope.
 */
export async function dispatchAgain(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<boolean | null> {
  const [row] = await tx<{ can_be_sent: boolean }[]>`
    update outbox
       set delivered_at = case when payload is null
                                 or occurred_at < now() - make_interval(days => ${PAYLOAD_DAYS})
                               then delivered_at end
     where ${inScope(tx, scope)} and id = ${id}
    returning delivered_at is null as can_be_sent`;
  return row?.can_be_sent ?? null;
}

/** The notifications of a time range, or a single notification. */
export interface Replayed {
  readonly endpoint_id: string;
  readonly from?: string | null | undefined;
  readonly to?: string | null | undefined;
  readonly system_event_id?: string | null | undefined;
}

/**
 * Schedules notifications for one endpoint again; returns their number. Notifications whose payload has expired,
 * and those that the endpoint is not subscribed to, are left out.
 */
export async function replayNotifications(
  tx: Transaction,
  scope: Scope,
  { endpoint_id, from, to, system_event_id }: Replayed,
  at: string,
  limit: number,
): Promise<number> {
  const replayed = await tx`
    insert into webhook_deliveries
      (id, tenant_id, environment_id, endpoint_id, event_id, sequence, event_type, entity_type, entity_id,
       delivery_status, attempts, due_at, created_at, updated_at)
    select 'whdel_' || upper(replace(gen_random_uuid()::text, '-', '')),
           o.tenant_id, o.environment_id, e.id, o.id, o.sequence, o.event_type, o.entity_type, o.entity_id,
           'pending', 0,
           case when row_number() over (partition by o.entity_type, o.entity_id order by o.sequence) = 1
                then ${at}::timestamptz end,
           ${at}, ${at}
      from outbox o
      join webhook_endpoints e on e.id = ${endpoint_id}
     where o.tenant_id = ${scope.tenant_id} and o.environment_id = ${scope.environment_id}
       and e.tenant_id = o.tenant_id and e.environment_id = o.environment_id
       and ${
         system_event_id == null
           ? tx`o.occurred_at >= ${from!} and o.occurred_at < ${to!}`
           : tx`o.id = ${system_event_id}`
       }
       and o.occurred_at > now() - make_interval(days => ${PAYLOAD_DAYS})
       and o.delivered_at is not null
       and (e.event_types = '{}' or o.event_type = any(e.event_types))
     order by o.sequence limit ${limit}
    on conflict (endpoint_id, event_id) do update
      set delivery_status = 'pending', attempts = 0, due_at = excluded.due_at, updated_at = ${at}`;
  return replayed.count;
}
