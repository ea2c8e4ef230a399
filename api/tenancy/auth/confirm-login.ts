import { invalidField } from '../../../domain/errors.ts';
import { loginSubjects } from '../../../platform/identity/login-limit.ts';
import { isPasswordRefused } from '../../../platform/identity/saml/enforced.ts';
import { noteAccess } from '../../../postgres/tables/access-audit.ts';
import type { ApiDeps } from '../../deps.ts';
import { isPassword } from '../users/passwords.ts';
import { ssoRequired } from './log-in.ts';
import type { OwnSession } from './own-session.ts';
import { getPerson } from './repository.ts';

/**
 * The person of an open session proves again who they are (tenancy 14.5.8). Wrong passwords count as failed
 * logins: an open session is not a way around their limit. 403 `sso_required` for a person who logs in
 * through an identity provider, who logs in there again.
 */
export async function confirmLogin(
  deps: ApiDeps,
  own: OwnSession,
  password: string,
): Promise<void> {
  const person = await getPerson(deps.pool, own);
  if (await isPasswordRefused(deps.pool, person)) throw ssoRequired();
  const subjects = loginSubjects(person.email, own.ip);
  const reached = await deps.loginLimit.count(subjects);
  if (!(await isPassword(person.password_hash, password))) {
    const details = { reason: 'wrong_current_password' };
    await noteAccess(deps.pool, person, { action: 'login_failed', details });
    if (reached !== null)
      await noteAccess(deps.pool, person, { action: 'locked_out', details: { reason: reached } });
    throw invalidField('password', 'is not the password of this account');
  }
  await deps.loginLimit.forgive(subjects);
  await deps.sessions.confirm(deps.pool, own);
}
