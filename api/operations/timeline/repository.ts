import { inScope, oneOf, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page } from '../../../schemas/search.ts';
import type { TimelineEntry, TimelineSearchBody } from '../../../schemas/timeline.ts';
import { groupBy } from '../../../domain/group-by.ts';

/** Whose timeline: ids of the records that belong to it, the owner included. */
export type TimelineOwner =
  | { readonly kind: 'customer'; readonly id: string }
  | { readonly kind: 'subscription'; readonly id: string }
  | { readonly kind: 'invoice'; readonly id: string };

/** Entries of the owner's timeline, newest first. The caller checks that the owner exists. */
export async function searchTimeline(
  db: Db,
  scope: Scope,
  owner: TimelineOwner,
  body: TimelineSearchBody,
): Promise<Page<TimelineEntry>> {
  const page = await findPage<Omit<TimelineEntry, 'deliveries'>>(db, {
    columns: db`
      id, kind, created_at, action, entity_type, entity_id, before, after, actor_kind, user_id, key_id, job,
      request_id, invoice`,
    from: db`(${entries(db, scope, owner)}) timeline`,
    where: db`${body.kind == null ? db`true` : db`kind = ${body.kind}`}`,
    search: body.search,
  });
  const told = page.items.filter(({ kind }) => kind === 'notification').map(({ id }) => id);
  const deliveries = await deliveriesOf(db, scope, told);
  return {
    ...page,
    items: page.items.map((item) => ({ ...item, deliveries: deliveries.get(item.id) ?? [] })),
  };
}

/** Ids are unique over all tables, so that an entry is found by the id of its record alone. */
function entries(db: Db, scope: Scope, owner: TimelineOwner): Fragment {
  return db`
    with records as materialized (${records(db, scope, owner)})
    select a.id, 'change' as kind, a.created_at, a.action, a.entity_type, a.entity_id,
           case when a.action = 'updated' then a.before end as before,
           case when a.action = 'updated' then a.after end as after,
           a.actor_kind, a.user_id, a.key_id, a.job, a.request_id, null::jsonb as invoice
      from records r
      join audit_log a on a.tenant_id = ${scope.tenant_id} and a.entity_id = r.id
     where a.environment_id in (${scope.environment_id}, '')
    union all
    select o.id, 'notification', o.occurred_at, o.event_type, o.entity_type, o.entity_id,
           null, null, null, null, null, null, null, null
      from records r
      join outbox o on ${inScope(db, scope, 'o')} and o.entity_id = r.id
    union all
    select i.id || '/' || moment.action, 'invoice', moment.at, moment.action, 'invoice', i.id,
           null, null, null, null, null, null, null,
           jsonb_build_object('invoice_number', nullif(i.invoice_number, ''), 'currency', i.currency,
                              'total', trim_scale(i.total)::text)
      from records r
      join invoices i on ${inScope(db, scope, 'i')} and i.id = r.id
     cross join lateral (values
       ('issued', i.finalized_at), ('paid', i.paid_at), ('voided', i.voided_at)) moment (action, at)
     where moment.at is not null`;
}

function records(db: Db, scope: Scope, { kind, id }: TimelineOwner): Fragment {
  const of = (table: string, column: string): Fragment => db`
    union all select id from ${db(table)} where ${inScope(db, scope)} and ${db(column)} = ${id}`;
  const ofTheir = (owners: string, table: string, column: string): Fragment => db`
    union all select id from ${db(table)}
     where ${inScope(db, scope)} and ${db(column)} in (
       select id from ${db(owners)} where ${inScope(db, scope)} and customer_id = ${id})`;
  const ofSubscriptions = (table: string) => ofTheir('subscriptions', table, 'subscription_id');
  const owner = db`select ${id}::text as id`;
  switch (kind) {
    case 'customer':
      return db`
        ${owner} ${of('subscriptions', 'customer_id')} ${ofSubscriptions('subscription_line_items')}
        ${ofSubscriptions('subscription_phases')} ${ofSubscriptions('subscription_pauses')}
        ${ofSubscriptions('subscription_schedules')} ${ofSubscriptions('coupon_associations')}
        ${of('invoices', 'customer_id')} ${of('payments', 'customer_id')}
        ${of('credit_notes', 'customer_id')} ${of('refunds', 'customer_id')}
        ${of('wallets', 'customer_id')} ${ofTheir('wallets', 'wallet_transactions', 'wallet_id')}`;
    case 'subscription':
      return db`
        ${owner} ${of('subscription_line_items', 'subscription_id')}
        ${of('subscription_phases', 'subscription_id')} ${of('subscription_pauses', 'subscription_id')}
        ${of('subscription_schedules', 'subscription_id')} ${of('subscription_changes', 'subscription_id')}
        ${of('coupon_associations', 'subscription_id')} ${of('credit_grant_applications', 'subscription_id')}
        ${of('invoices', 'subscription_id')} ${of('credit_notes', 'subscription_id')}`;
    case 'invoice':
      return db`
        ${owner} ${of('payments', 'destination_id')} ${of('credit_notes', 'invoice_id')}
        ${of('refunds', 'invoice_id')}`;
  }
}

async function deliveriesOf(
  db: Db,
  scope: Scope,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, TimelineEntry['deliveries']>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db<(TimelineEntry['deliveries'][number] & { event_id: string })[]>`
    select event_id, endpoint_id, delivery_status, attempts
      from webhook_deliveries
     where ${inScope(db, scope)} and event_id ${oneOf(db, eventIds)}
     order by created_at, id`;
  const byEvent = groupBy(rows, ({ event_id }) => event_id);
  return new Map(
    [...byEvent].map(([event, found]) => [
      event,
      found.map(({ endpoint_id, delivery_status, attempts }) => ({
        endpoint_id,
        delivery_status,
        attempts,
      })),
    ]),
  );
}
