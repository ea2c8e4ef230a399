import { BillingError } from '../../../domain/errors.ts';
import type { OpenedSession } from '../../../platform/identity/sessions.ts';
import { isPasswordRefused } from '../../../platform/identity/saml/enforced.ts';
import type { ApiDeps } from '../../deps.ts';
import { loginSubjects } from '../../../platform/identity/login-limit.ts';
import { isPassword } from '../users/passwords.ts';

interface Person {
  readonly id: string;
  readonly tenant_id: string;
  readonly password_hash: string | null;
  readonly roles: string[];
}

/**
 * Opens a session. One answer, after the same work, for an unknown address and a wrong password: 401. Too
 * many failures: 429 until they are old. Where the tenant demands single sign-on, a right password is 403
 * for everybody but super admins (specification, Authentication 7).
 */
export async function logIn(
  deps: ApiDeps,
  credentials: { readonly email: string; readonly password: string },
  ip: string,
): Promise<OpenedSession> {
  const email = credentials.email.toLowerCase();
  const subjects = loginSubjects(email, ip);
  await deps.loginLimit.count(subjects);
  const [person] = await deps.pool<Person[]>`
    select id, tenant_id, password_hash, roles from users
     where lower(email) = ${email} and status = 'published' and type = 'user'`;
  const isRight = await isPassword(person?.password_hash ?? null, credentials.password);
  if (person === undefined || !isRight)
    throw new BillingError(
      'unauthenticated',
      'unauthenticated',
      'The e-mail or the password is wrong.',
    );
  await deps.loginLimit.forgive(subjects);
  if (await isPasswordRefused(deps.pool, person)) throw ssoRequired();
  return await deps.sessions.open(person, 'password');
}

export const ssoRequired = (): BillingError =>
  new BillingError(
    'forbidden',
    'sso_required',
    'Your company logs in through its identity provider.',
  );
