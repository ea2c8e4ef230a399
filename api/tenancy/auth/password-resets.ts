import { invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { isPasswordRefused } from '../../../platform/identity/saml/enforced.ts';
import { loginSubjects } from '../../../platform/identity/login-limit.ts';
import type { Device } from '../../../platform/identity/sessions.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { queueEmail } from '../../../postgres/tables/email-queue.ts';
import { noteAccess } from '../../../postgres/tables/access-audit.ts';
import type { ApiDeps } from '../../deps.ts';
import { ssoRequired } from './log-in.ts';
import { forgetPasswordTokens, takeToken, tokenRefused } from './one-time-token-repository.ts';
import { lockPerson, updatePassword, type Person } from './repository.ts';
import { assertNotAddress, hashPassword } from '../users/passwords.ts';
import { endSessionsOfUser } from '../users/repository.ts';

/** Queues a message to the address: the same work and the same answer whether or not it has an account. */
export async function forgotPassword(
  deps: ApiDeps,
  email: string,
  { ip, user_agent }: Device,
): Promise<void> {
  if (!deps.sendsEmail)
    throw invalidOperation(
      'This installation sends no e-mail (SMTP_URL is not set). Its operator resets a password with: npm run maintain -- reset-password EMAIL',
    );
  await deps.loginLimit.countEmailRequest(ip);
  await queueEmail(deps.pool, {
    id: deps.ids.next('email'),
    kind: 'password_reset',
    recipient: email.toLowerCase(),
    // For the audit log, if the address has an account.
    payload: { ip, ...(user_agent === undefined ? {} : { user_agent }) },
    created_at: isoTime(deps.clock.now()),
  });
}

/** Sets a password with a token, which is then used up, and ends every session of the person. */
export async function resetPassword(
  deps: ApiDeps,
  { token, new_password }: { readonly token: string; readonly new_password: string },
  { ip }: Device,
): Promise<void> {
  const now = deps.clock.now();
  const password_hash = await hashPassword(new_password);
  const email = await deps.pool.begin(async (tx) => {
    const found = await takeToken(tx, 'password', token, now);
    const person = found === null ? null : await lockPerson(tx, found.user_id!);
    if (person === null) throw tokenRefused();
    if (await isPasswordRefused(tx, person)) throw ssoRequired();
    assertNotAddress(new_password, person.email, 'new_password');
    await setPassword(tx, deps, person, password_hash, isoTime(now));
    await endSessionsOfUser(tx, person.id, isoTime(now));
    await noteAccess(tx, person, { action: 'password_reset', details: { reason: found!.origin } });
    return person.email;
  });
  // A person locked out by failed logins can log in at once.
  await deps.loginLimit.forgive(loginSubjects(email, ip));
}

/** Invalidates the other password tokens and notifies the person by e-mail. */
export async function setPassword(
  tx: Transaction,
  deps: Pick<ApiDeps, 'ids' | 'sendsEmail'>,
  { id, email }: Pick<Person, 'id' | 'email'>,
  password_hash: string,
  at: string,
): Promise<void> {
  await updatePassword(tx, id, password_hash, at);
  await forgetPasswordTokens(tx, id);
  if (!deps.sendsEmail || email.endsWith('@localhost')) return;
  await queueEmail(tx, {
    id: deps.ids.next('email'),
    kind: 'password_changed',
    recipient: email,
    payload: {},
    created_at: at,
  });
}

/**
 * Whether the person may have a password. An account without one was created by an identity provider, which
 * stays its only login, or belongs to a first person, who is super admin.
 */
export const mayHavePassword = ({ password_hash, roles }: Person): boolean =>
  password_hash !== null || roles.includes('super_admin');
