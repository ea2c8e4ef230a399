import { createHash } from 'node:crypto';
import { BillingError } from '../../domain/errors.ts';
import { isoTime } from '../../platform/clock.ts';
import type { OpenedSession } from '../../platform/http/sessions.ts';
import type { ApiDeps } from '../deps.ts';
import { isPassword } from './passwords.ts';

const FAILURES_MAX = 10;
const WINDOW_MS = 15 * 60_000;

/**
 * Opens a session. One answer, after the same work, for an unknown address and a wrong password: 401. Ten
 * failures of one address from one place within 15 minutes: 429 until they are old (money-semantics
 * 14.5.4).
 */
export async function logIn(
  deps: ApiDeps,
  credentials: { readonly email: string; readonly password: string },
  ip: string,
): Promise<OpenedSession> {
  const email = credentials.email.toLowerCase();
  const subject = createHash('sha256').update(`${email} ${ip}`).digest();
  await assertNotLockedOut(deps, subject);
  const [user] = await deps.pool<{ id: string; tenant_id: string; password_hash: string | null }[]>`
    select id, tenant_id, password_hash from users
     where lower(email) = ${email} and status = 'published' and type = 'user'`;
  if (!(await isPassword(user?.password_hash ?? null, credentials.password))) {
    await deps.pool`insert into login_failures ${deps.pool({ subject, failed_at: isoTime(deps.clock.now()) })}`;
    throw new BillingError(
      'unauthenticated',
      'unauthenticated',
      'The e-mail or the password is wrong.',
    );
  }
  await deps.pool`delete from login_failures where subject = ${subject}`;
  return await deps.sessions.open(user!);
}

async function assertNotLockedOut(deps: ApiDeps, subject: Buffer): Promise<void> {
  const since = isoTime(deps.clock.now() - WINDOW_MS);
  const [row] = await deps.pool<{ count: number }[]>`
    select count(*)::int as count from login_failures
     where subject = ${subject} and failed_at > ${since}`;
  if (row!.count >= FAILURES_MAX)
    throw new BillingError(
      'rate_limited',
      'too_many_requests',
      'Too many failed logins. Try again in 15 minutes.',
    );
}
