import { composeEmail } from '../api/tenancy/auth/compose-email.ts';
import { isoTime } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Mailer } from '../platform/mail/mailer.ts';
import type { Pool } from '../postgres/client.ts';
import {
  countSentTo,
  noteNotSent,
  noteSent,
  takeDueEmail,
  type QueuedEmail,
} from '../postgres/tables/email-queue.ts';
import type { Job } from './job.ts';

const HOUR_MS = 3_600_000;
/** Maximum messages to one address per hour: prevents flooding a stranger's mailbox. */
const PER_ADDRESS_MAX = 5;

export interface SendEmailsDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly mailer: Mailer;
  readonly publicUrl: string;
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
    const report = { sent: 0, failed: 0, dropped: 0 };
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
): Promise<'sent' | 'failed' | 'dropped'> {
  const { pool, publicUrl, mailer } = deps;
  const nowMs = Date.parse(at);
  const dropped = async (reason: string): Promise<'dropped'> => {
    await noteNotSent(pool, email, at, reason, true);
    return 'dropped';
  };
  if ((await countSentTo(pool, email.recipient, isoTime(nowMs - HOUR_MS))) >= PER_ADDRESS_MAX)
    return await dropped('the address got as many messages as it may within an hour');
  try {
    const message = await composeEmail({ pool, publicUrl, nowMs }, email);
    if (message === null) return await dropped('there is nothing to be said to the address');
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
