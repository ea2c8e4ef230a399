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
/** Messages that one address gets within an hour: nobody fills a stranger's mailbox through us. */
const PER_ADDRESS_MAX = 5;

export interface SendEmailsDeps {
  readonly pool: Pool;
  readonly log: Logger;
  readonly mailer: Mailer;
  readonly publicUrl: string;
}

/**
 * Sends queued e-mails, one after the other. What a mail server refuses is tried again, later each time, for
 * about a day. A process that is killed after the server took a message sends it once more, under the same
 * Message-ID; its token is then another, and both are good.
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
