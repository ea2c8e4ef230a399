import { sendEmails, type SendEmailsDeps } from '../../jobs/send-emails.ts';
import type { JobReport } from '../../jobs/job.ts';
import { createLogger } from '../../platform/log.ts';
import { smtpMailer } from '../../platform/mail/smtp.ts';
import type { TestApi } from './api.ts';
import type { MailCatcher } from './mail-catcher.ts';

/** One run of the job that sends e-mails, at the test's time. */
export async function sendDueEmails(
  { pool, clock }: Pick<TestApi, 'pool' | 'clock'>,
  { url }: Pick<MailCatcher, 'url'>,
  more: Partial<SendEmailsDeps> = {},
): Promise<JobReport> {
  const mailer = smtpMailer({ url, from: 'billing@example.test' });
  const deps = {
    pool,
    mailer,
    log: createLogger('silent', 'test'),
    publicUrl: 'https://billing.example.test',
    ...more,
  };
  const at = new Date(clock.now()).toISOString();
  const report = await sendEmails.run(deps, {
    at,
    lease: { name: 'send-emails', generation: '1' },
    signal: new AbortController().signal,
    test_clock_id: null,
    fail: () => {},
  });
  await mailer.close();
  return report;
}
