import type { Db } from '../client.ts';

/** An e-mail that waits to be sent. Its text is composed when it is sent: no secret waits in the queue. */
export interface QueuedEmail {
  readonly id: string;
  /** The kind of message; selects the text when it is composed. */
  readonly kind: string;
  readonly recipient: string;
  readonly payload: Readonly<Record<string, string>>;
  /** Number of attempts, including this one. */
  readonly attempts: number;
  readonly created_at: string;
}

/** The kind of the notice to super admins that a webhook endpoint was disabled. */
export const ENDPOINT_DISABLED_EMAIL = 'endpoint_disabled';

/** The kind of the message to a person who has been invited to a tenant. */
export const INVITATION_EMAIL = 'invitation';

const MINUTE_MS = 60_000;
/** Waits between attempts; the last failure abandons the message after a little less than a day. */
const WAITS_MS = [1, 1, 5, 30, 120, 360, 720].map((minutes) => minutes * MINUTE_MS);
export const ATTEMPTS_MAX = WAITS_MS.length + 1;

/** Queues an e-mail in the transaction that causes it. */
export async function queueEmail(
  db: Db,
  email: Pick<QueuedEmail, 'id' | 'kind' | 'recipient' | 'payload' | 'created_at'>,
): Promise<void> {
  const { created_at, payload } = email;
  await db`insert into emails_outbox ${db({ ...email, payload: db.json(payload), due_at: created_at })}`;
}

/**
 * Takes the next due e-mail after postponing its next attempt: a process that is killed while sending leaves
 * the message to that attempt. Null if none is due.
 */
export async function takeDueEmail(db: Db, at: string): Promise<QueuedEmail | null> {
  const waits = WAITS_MS.map((ms) => ms / 1000);
  const [email] = await db<QueuedEmail[]>`
    update emails_outbox
       set attempts = attempts + 1,
           due_at = ${at}::timestamptz
                  + make_interval(secs => (${waits}::float8[])[least(attempts + 1, ${waits.length})])
     where id = (select id from emails_outbox
                  where due_at <= ${at} and sent_at is null and given_up_at is null
                  order by due_at, id
                  limit 1
                    for update skip locked)
    returning id, kind, recipient, payload, attempts, created_at`;
  return email ?? null;
}

/**
 * Number of e-mails sent to the address since an instant: of those about access, or of those that tenants send
 * to their customers.
 */
export async function countSentTo(
  db: Db,
  recipient: string,
  since: string,
  isOfTenant: boolean,
): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from emails_outbox
     where recipient = ${recipient} and sent_at > ${since} and (payload ? 'tenant_id') = ${isOfTenant}`;
  return row!.count;
}

/** Number of e-mails that the tenant has sent since an instant. */
export async function countSentBy(db: Db, tenantId: string, since: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from emails_outbox
     where payload ? 'tenant_id' and payload ->> 'tenant_id' = ${tenantId} and sent_at > ${since}`;
  return row!.count;
}

/** Postpones the due e-mails of the tenant until an instant. The attempt that took one of them is not counted. */
export async function postponeEmails(
  db: Db,
  email: Pick<QueuedEmail, 'id'>,
  tenantId: string,
  at: string,
  until: string,
): Promise<void> {
  await db`
    update emails_outbox
       set due_at = ${until}, attempts = case when id = ${email.id} then attempts - 1 else attempts end
     where payload ? 'tenant_id' and payload ->> 'tenant_id' = ${tenantId}
       and sent_at is null and given_up_at is null and (id = ${email.id} or due_at <= ${at})`;
}

export async function noteSent(db: Db, id: string, at: string): Promise<void> {
  await db`update emails_outbox set sent_at = ${at}, last_error = null where id = ${id}`;
}

/** Records a failed attempt. The last one, or a permanent reason, abandons the message. */
export async function noteNotSent(
  db: Db,
  { id, attempts }: Pick<QueuedEmail, 'id' | 'attempts'>,
  at: string,
  reason: string,
  isFinal: boolean,
): Promise<void> {
  const given_up_at = isFinal || attempts >= ATTEMPTS_MAX ? at : null;
  await db`
    update emails_outbox set last_error = ${reason.slice(0, 500)}, given_up_at = ${given_up_at}
     where id = ${id}`;
}
