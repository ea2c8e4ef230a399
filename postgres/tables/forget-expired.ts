import type { Db } from '../client.ts';

/** Rows per delete: a large backlog must not hold locks or enlarge one transaction. */
const PAGE_ROWS = 10_000;
/** A file is up to 5 MB. */
const UPLOADS_PAGE_ROWS = 100;
/** A notification can be sent again for this long. */
export const PAYLOAD_DAYS = 90;
/** Days for which an ended delivery of a notification is kept, unless the configuration says otherwise. */
export const DELIVERY_DAYS = 90;
/** Later than the last replay of a payload can begin, so that no delivery finds an empty one. */
const PAYLOAD_MARGIN_DAYS = 1;

export interface Forgotten {
  readonly idempotency_keys: number;
  readonly login_failures: number;
  readonly sessions: number;
  readonly uploads: number;
  readonly emails: number;
  readonly webhook_attempts: number;
  readonly webhook_deliveries: number;
  /** Payloads; the notifications themselves stay in the timeline. */
  readonly notification_payloads: number;
  readonly request_logs: number;
  readonly sign_ups: number;
  readonly one_time_tokens: number;
  readonly known_networks: number;
}

/**
 * Deletes one page of each kind of expired row, on the database's clock: answers kept for repeats after seven
 * days (api 2), failed logins after a day (they delay guessing for minutes only), sessions with their
 * spent tokens a day after they ended or expired, uploaded files after seven days unless a task still reads
 * one, e-mails after seven days, attempts to send notifications after 30 days,
 * deliveries of notifications so many days after they ended (the notifications themselves stay in the timeline),
 * payloads of delivered notifications after 90 days, logged requests after seven days, sign-ups and one-time tokens
 * at their expiry, and networks from which an account was not opened for 90 days.
 */
export async function forgetExpired(db: Db, deliveryDays = DELIVERY_DAYS): Promise<Forgotten> {
  const keys = await db`
    delete from idempotency_keys
     where ctid = any(array(
       select ctid from idempotency_keys
        where created_at < now() - interval '7 days' limit ${PAGE_ROWS}))`;
  const failures = await db`
    delete from login_failures
     where ctid = any(array(
       select ctid from login_failures
        where failed_at < now() - interval '1 day' limit ${PAGE_ROWS}))`;
  const ended = await db<{ id: string }[]>`
    select id from sessions
     where least(expires_at, ended_at) < now() - interval '1 day'
     limit ${PAGE_ROWS}`;
  const ids = ended.map(({ id }) => id);
  await db`delete from spent_refresh_tokens where session_id = any(${ids}::text[])`;
  await db`delete from sessions where id = any(${ids}::text[])`;
  const uploads = await db`
    delete from uploads
     where id = any(array(
       select u.id from uploads u
         left join tasks t on t.upload_id = u.id
        where u.created_at < now() - interval '7 days'
          and (t.id is null or t.task_status in ('COMPLETED', 'FAILED'))
        limit ${UPLOADS_PAGE_ROWS}))`;
  const emails = await db`
    delete from emails_outbox
     where ctid = any(array(
       select ctid from emails_outbox
        where created_at < now() - interval '7 days' limit ${PAGE_ROWS}))`;
  const attempts = await db`
    delete from webhook_attempts
     where ctid = any(array(
       select ctid from webhook_attempts
        where created_at < now() - interval '30 days' limit ${PAGE_ROWS}))`;
  const deliveries = await db`
    delete from webhook_deliveries
     where id = any(array(
       select id from webhook_deliveries
        where delivery_status <> 'pending'
          and updated_at < now() - make_interval(days => ${deliveryDays})
        order by updated_at limit ${PAGE_ROWS}))
       and delivery_status <> 'pending'`;
  const payloads = await db`
    update outbox set payload = null
     where delivered_at is not null and sequence = any(array(
       select o.sequence from outbox o
        where o.payload is not null and o.delivered_at is not null
          and o.occurred_at < now() - make_interval(days => ${PAYLOAD_DAYS + PAYLOAD_MARGIN_DAYS})
          and not exists (
            select 1 from webhook_deliveries d
             where d.tenant_id = o.tenant_id and d.environment_id = o.environment_id
               and d.event_id = o.id and d.delivery_status = 'pending')
        order by o.occurred_at limit ${PAGE_ROWS}))`;
  const requests = await db`
    delete from request_logs
     where ctid = any(array(
       select ctid from request_logs
        where created_at < now() - interval '7 days' limit ${PAGE_ROWS}))`;
  const tokens = await db`
    delete from one_time_tokens
     where ctid = any(array(
       select ctid from one_time_tokens where expires_at < now() limit ${PAGE_ROWS}))`;
  const signUps = await db`
    delete from sign_ups
     where ctid = any(array(
       select ctid from sign_ups where expires_at < now() limit ${PAGE_ROWS}))`;
  const networks = await db`
    delete from known_networks
     where ctid = any(array(
       select ctid from known_networks
        where seen_at < now() - interval '90 days' limit ${PAGE_ROWS}))`;
  return {
    idempotency_keys: keys.count,
    login_failures: failures.count,
    sessions: ids.length,
    uploads: uploads.count,
    emails: emails.count,
    webhook_attempts: attempts.count,
    webhook_deliveries: deliveries.count,
    notification_payloads: payloads.count,
    request_logs: requests.count,
    sign_ups: signUps.count,
    one_time_tokens: tokens.count,
    known_networks: networks.count,
  };
}
