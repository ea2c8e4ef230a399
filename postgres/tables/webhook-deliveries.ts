import type { Db, Transaction } from '../client.ts';
import { jsonOf } from '../parameters.ts';
import { queueCustomerEmails } from './customer-emails.ts';

/** A delivery that may be attempted now, with its receiver and its notification. */
export interface DueDelivery {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly sequence: string;
  readonly event_type: string;
  readonly entity_type: string;
  readonly entity_id: string;
  /** Failed attempts so far. */
  readonly attempts: number;
  readonly url: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_secret_ends_at: string | null;
  readonly failing_since: string | null;
  readonly environment_type: 'production' | 'development';
  readonly payload: Readonly<Record<string, unknown>>;
  readonly occurred_at: string;
  /** The time of the customer's test clock; null in real time. */
  readonly clock_time: string | null;
}

/**
 * Creates the deliveries of a page of notifications for the subscribed endpoints, and marks the notifications
 * as dispatched. A delivery is due if no earlier one of the same entity is pending for the endpoint; the
 * others wait for it. Queues the e-mails that the notifications cause. Returns the number of notifications.
 */
export async function dispatchNotifications(
  tx: Transaction,
  page: { readonly at: string; readonly limit: number },
): Promise<number> {
  const { at, limit } = page;
  const taken = await tx`
    with taken as (
      update outbox set delivered_at = ${at}
       where sequence in (
         select sequence from outbox where delivered_at is null order by sequence limit ${limit})
      returning sequence, id, tenant_id, environment_id, event_type, entity_type, entity_id, payload,
                occurred_at, clock_time
    ), mailed as (
      ${queueCustomerEmails(tx, tx`taken`, at)}
    ), made as (
      insert into webhook_deliveries
        (id, tenant_id, environment_id, endpoint_id, event_id, sequence, event_type, entity_type, entity_id,
         delivery_status, attempts, due_at, created_at, updated_at)
      select 'whdel_' || upper(replace(gen_random_uuid()::text, '-', '')),
             t.tenant_id, t.environment_id, e.id, t.id, t.sequence, t.event_type, t.entity_type, t.entity_id,
             'pending', 0,
             case when row_number() over (
                         partition by e.id, t.entity_type, t.entity_id order by t.sequence) = 1
                   and not exists (
                     select 1 from webhook_deliveries d
                      where d.endpoint_id = e.id and d.entity_type = t.entity_type
                        and d.entity_id = t.entity_id and d.delivery_status = 'pending')
                  then ${at}::timestamptz end,
             ${at}, ${at}
        from taken t
        join webhook_endpoints e
          on e.tenant_id = t.tenant_id and e.environment_id = t.environment_id
         and e.status = 'published' and e.enabled
         and (e.event_types = '{}' or t.event_type = any(e.event_types))
      on conflict (endpoint_id, event_id) do update
        set delivery_status = 'pending', attempts = 0, due_at = ${at}, updated_at = ${at}
    )
    select 1 from taken`;
  return taken.count;
}

/**
 * Due deliveries of enabled endpoints, one of each tenant in turn, longest due first. Each endpoint and each tenant has
 * at most so many in a page as there are places for them, and an endpoint that fails has fewer: receivers that do not
 * answer must not fill the page.
 */
export async function findDueDeliveries(
  db: Db,
  page: {
    readonly at: string;
    readonly limit: number;
    /** Deliveries that the process has already. */
    readonly without: readonly string[];
    readonly perEndpoint: number;
    readonly perFailingEndpoint: number;
    readonly perTenant: number;
    /** Endpoints and tenants with other limits than these, because the process has some of their deliveries. */
    readonly endpoints: readonly { readonly id: string; readonly places: number }[];
    readonly tenants: readonly { readonly id: string; readonly places: number }[];
  },
): Promise<DueDelivery[]> {
  const { at, limit, perEndpoint, perFailingEndpoint, perTenant } = page;
  const placesOf = (shares: typeof page.endpoints) =>
    db`unnest(${shares.map(({ id }) => id)}::text[], ${shares.map(({ places }) => places)}::int[])`;
  return await db<DueDelivery[]>`
    with found as materialized (
      select d.id, e.tenant_id, d.due_at,
             row_number() over (partition by e.tenant_id order by d.due_at, d.sequence) as turn
        from webhook_endpoints e
        left join ${placesOf(page.endpoints)} k(id, places) on k.id = e.id
       cross join lateral (
         select d.id, d.due_at, d.sequence from webhook_deliveries d
          where d.endpoint_id = e.id and d.due_at <= ${at}
            and d.id not in (select unnest(${page.without as string[]}::text[]))
          order by d.due_at, d.sequence
          limit coalesce(k.places, case when e.failing_since is null then ${perEndpoint}::int
                                        else ${perFailingEndpoint}::int end)) d
       where e.enabled and e.status = 'published'
         and exists (select 1 from webhook_deliveries w where w.endpoint_id = e.id and w.due_at <= ${at})
    ), taken as materialized (
      select f.id, f.turn from found f
        left join ${placesOf(page.tenants)} k(id, places) on k.id = f.tenant_id
       where f.turn <= coalesce(k.places, ${perTenant}::int)
       order by f.turn, f.due_at
       limit ${limit}
    )
    select d.id, d.tenant_id, d.environment_id, d.endpoint_id, d.event_id, d.sequence::text as sequence,
           d.event_type, d.entity_type, d.entity_id, d.attempts,
           e.url, e.secret, e.previous_secret, e.previous_secret_ends_at, e.failing_since,
           v.type as environment_type, o.payload, o.occurred_at, o.clock_time
      from taken t
      join webhook_deliveries d on d.id = t.id
      join webhook_endpoints e on e.id = d.endpoint_id
      join environments v on v.id = d.environment_id
      join outbox o on o.id = d.event_id
     order by t.turn, d.due_at, d.sequence`;
}

/** The outcome of one attempt. */
export interface AttemptedDelivery {
  readonly delivery: DueDelivery;
  readonly outcome: 'delivered' | 'exhausted' | 'pending';
  /** The next attempt of a pending one. */
  readonly due_at: string | null;
  readonly attempt: AttemptRow;
}

export interface AttemptRow {
  readonly id: string;
  readonly created_at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly request_headers: Readonly<Record<string, string>>;
  readonly request_body: string;
  readonly response_headers: Readonly<Record<string, string>> | null;
  readonly response_body: string | null;
}

/** Writes outcomes: the attempts, the deliveries, and the next event of each entity, which is due now. */
export async function noteAttempts(
  tx: Transaction,
  done: readonly AttemptedDelivery[],
  at: string,
): Promise<void> {
  const rows = done.map(({ delivery, outcome, due_at, attempt }) => ({
    ...attempt,
    delivery_id: delivery.id,
    tenant_id: delivery.tenant_id,
    environment_id: delivery.environment_id,
    endpoint_id: delivery.endpoint_id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    entity_type: delivery.entity_type,
    entity_id: delivery.entity_id,
    attempt: delivery.attempts + 1,
    outcome,
    due_at,
  }));
  await tx`
    with done as (
      select * from jsonb_to_recordset(${jsonOf(tx, rows)}) as r(
        id text, delivery_id text, tenant_id text, environment_id text, endpoint_id text, event_id text,
        event_type text, entity_type text, entity_id text, attempt int, created_at timestamptz,
        duration_ms int, status_code int, error text, request_headers jsonb, request_body text,
        response_headers jsonb, response_body text, outcome text, due_at timestamptz)
    ), noted as (
      insert into webhook_attempts
        (id, tenant_id, environment_id, endpoint_id, event_id, event_type, attempt, created_at, duration_ms,
         status_code, error, request_headers, request_body, response_headers, response_body)
      select id, tenant_id, environment_id, endpoint_id, event_id, event_type, attempt, created_at,
             duration_ms, status_code, error, request_headers, request_body, response_headers, response_body
        from done
    )
    update webhook_deliveries d
       set delivery_status = done.outcome, attempts = done.attempt, due_at = done.due_at, updated_at = ${at}
      from done where d.id = done.delivery_id`;
  const over = rows.filter(({ outcome }) => outcome !== 'pending');
  if (over.length === 0) return;
  await tx`
    update webhook_deliveries d set due_at = ${at}, updated_at = ${at}
      from (
        select distinct on (n.endpoint_id, n.entity_type, n.entity_id) n.id
          from jsonb_to_recordset(${tx.json(
            over.map(({ endpoint_id, entity_type, entity_id }) => ({
              endpoint_id,
              entity_type,
              entity_id,
            })),
          )}) as o(endpoint_id text, entity_type text, entity_id text)
          join webhook_deliveries n
            on n.endpoint_id = o.endpoint_id and n.entity_type = o.entity_type
           and n.entity_id = o.entity_id and n.delivery_status = 'pending'
         order by n.endpoint_id, n.entity_type, n.entity_id, n.sequence) next
     where d.id = next.id and d.due_at is null`;
}
