import {
  composeCustomerEmail,
  isCustomerEmail,
} from '../api/billing/emails/compose-customer-email.ts';
import {
  composeDisabledNotice,
  isDisabledNotice,
} from '../api/operations/webhooks/compose-disabled-notice.ts';
import { composeEmail } from '../api/tenancy/auth/compose-email.ts';
import { isoTime } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Mailer, Message } from '../platform/mail/mailer.ts';
import type { Pool } from '../postgres/client.ts';
import {
  countSentBy,
  countSentTo,
  noteNotSent,
  noteSent,
  postponeEmails,
  takeDueEmail,
  type QueuedEmail,
} from '../postgres/tables/email-queue.ts';
import type { Job } from './job.ts';

const HOUR_MS = 3_600_000;
/** Maximum messages to one address per hour: prevents flooding a stranger's mailbox. */
const PER_ADDRESS_MAX = 5;
/** The same for e-mails of tenants to their customers. */
const PER_CUSTOMER_MAX = 20;
/** E-mails of one tenant to its customers per hour; further ones wait. */
const PER_TENANT_MAX = 5_000;
const POSTPONE_MS = 900_000;

export interface SendEmailsDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly mailer: Mailer;
  readonly publicUrl: string;
  /** E-mails of one tenant per hour; absent: 5,000. */
  readonly perTenantMax?: number;
}

/**
 * Sends queued e-mails one after the other. A message that the mail server refuses is retried with growing
 * pauses for about a day. If the process is killed after the server accepted a message, it is sent once more
 * with the same Message-ID; its token is different then, and both are valid.
 */
export const sendEmails: Job<SendEmailsDeps> = {
  name: 'send-emails',
  cron: '*/2 * * * * *',
  async run(deps, { at, signal }) {
    const report = { sent: 0, failed: 0, dropped: 0, postponed: 0 };
    while (!signal.aborted) {
      const email = await takeDueEmail(deps.pool, at);
      if (email === null) break;
      report[await sendOne(deps, email, at)] += 1;
    }
    return report;
  },
};

async function sendOne(
  deps: SendEmailsDeps,
  email: QueuedEmail,
  at: string,
): Promise<'sent' | 'failed' | 'dropped' | 'postponed'> {
  const { pool, mailer } = deps;
  const nowMs = Date.parse(at);
  const dropped = async (reason: string): Promise<'dropped'> => {
    await noteNotSent(pool, email, at, reason, true);
    return 'dropped';
  };
  const hourAgo = isoTime(nowMs - HOUR_MS);
  const tenantId = email.payload['tenant_id'] ?? null;
  if (tenantId !== null) {
    const max = deps.perTenantMax ?? PER_TENANT_MAX;
    if ((await countSentBy(pool, tenantId, hourAgo)) >= max) {
      await postponeEmails(pool, email, tenantId, at, isoTime(nowMs + POSTPONE_MS));
      return 'postponed';
    }
  }
  const perAddress = tenantId === null ? PER_ADDRESS_MAX : PER_CUSTOMER_MAX;
  if ((await countSentTo(pool, email.recipient, hourAgo, tenantId !== null)) >= perAddress)
    return await dropped('the address reached its limit of messages per hour');
  try {
    const message = await messageOf(deps, email, nowMs);
    if (message === null) return await dropped('nothing to send to the address');
    await mailer.send(message);
    await noteSent(pool, email.id, at);
    return 'sent';
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    deps.log.warn({ err: error, email: email.id, attempts: email.attempts }, 'e-mail not sent');
    await noteNotSent(pool, email, at, reason, false);
    return 'failed';
  }
}

/** The message of the kind; null if there is nothing to send. */
async function messageOf(
  { pool, publicUrl }: SendEmailsDeps,
  email: QueuedEmail,
  nowMs: number,
): Promise<Message | null> {
  if (isCustomerEmail(email.kind)) return await composeCustomerEmail(pool, email);
  if (isDisabledNotice(email.kind)) return await composeDisabledNotice(pool, email);
  return await composeEmail({ pool, publicUrl, nowMs }, email);
}
