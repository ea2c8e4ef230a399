import { BillingError, invalidField } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { isPasswordRefused } from '../../../platform/identity/saml/enforced.ts';
import { noteAccess } from '../../../postgres/tables/access-audit.ts';
import type { ApiDeps } from '../../deps.ts';
import { loginSubjects } from '../../../platform/identity/login-limit.ts';
import { ssoRequired } from './log-in.ts';
import { endSessions } from './session-repository.ts';
import type { OwnSession } from './own-session.ts';
import { setPassword } from './password-resets.ts';
import { getPerson, lockPassword } from './repository.ts';
import { assertNotAddress, hashPassword, isPassword } from '../users/passwords.ts';

/**
 * Replaces the caller's own password and ends their other sessions. Requires the current password; wrong
 * guesses count as failed logins. A stolen session must not take over the account.
 */
export async function changePassword(
  deps: ApiDeps,
  own: OwnSession,
  body: { readonly current_password: string; readonly new_password: string },
): Promise<void> {
  const person = await getPerson(deps.pool, own);
  if (await isPasswordRefused(deps.pool, person)) throw ssoRequired();
  const subjects = loginSubjects(person.email, own.ip);
  const reached = await deps.loginLimit.count(subjects);
  if (!(await isPassword(person.password_hash, body.current_password))) {
    const details = { reason: 'wrong_current_password' };
    await noteAccess(deps.pool, person, { action: 'login_failed', details });
    if (reached !== null)
      await noteAccess(deps.pool, person, { action: 'locked_out', details: { reason: reached } });
    throw invalidField('current_password', 'is not the password of this account');
  }
  await deps.loginLimit.forgive(subjects);
  assertNotAddress(body.new_password, person.email, 'new_password');
  const password_hash = await hashPassword(body.new_password);
  const at = isoTime(deps.clock.now());
  await deps.pool.begin(async (tx) => {
    if (!(await lockPassword(tx, person)))
      throw new BillingError('conflict', 'conflict', 'The password was changed at the same time.');
    await setPassword(tx, deps, person, password_hash, at);
    const ended = await endSessions({ ...deps, pool: tx }, own, null, { but: own.session_id });
    await noteAccess(tx, person, {
      action: 'password_changed',
      details: { reason: 'own', session_id: own.session_id, sessions_ended: ended },
    });
  });
}
