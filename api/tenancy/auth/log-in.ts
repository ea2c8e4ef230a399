import { BillingError } from '../../../domain/errors.ts';
import type { Device, OpenedSession } from '../../../platform/identity/sessions.ts';
import { isPasswordRefused } from '../../../platform/identity/saml/enforced.ts';
import { noteAccess, noteAccessOf } from '../../../postgres/tables/access-audit.ts';
import type { ApiDeps } from '../../deps.ts';
import {
  loginSubjects,
  type LimitReached,
  type LoginSubjects,
} from '../../../platform/identity/login-limit.ts';
import { isPassword } from '../users/passwords.ts';
import { findPerson, touchLoginFailure } from './repository.ts';

/**
 * Opens a session. An unknown address and a wrong password have the same answer after the same work: 401. Too
 * many failures: 429 until they are old. If the tenant requires single sign-on, a correct password is 403 for
 * all except super admins (specification, Authentication 7).
 */
export async function logIn(
  deps: ApiDeps,
  credentials: { readonly email: string; readonly password: string },
  device: Device,
): Promise<OpenedSession> {
  const email = credentials.email.toLowerCase();
  const subjects = loginSubjects(email, device.ip);
  const reached = await deps.loginLimit.count(subjects);
  const person = await findPerson(deps.pool, email);
  const isRight = await isPassword(person?.password_hash ?? null, credentials.password);
  if (person === null || !isRight) {
    await noteFailedLogin(deps, email, subjects, reached);
    throw new BillingError(
      'unauthenticated',
      'unauthenticated',
      'The e-mail or the password is wrong.',
    );
  }
  await deps.loginLimit.forgive(subjects);
  if (await isPasswordRefused(deps.pool, person)) {
    await noteAccess(deps.pool, person, {
      action: 'login_failed',
      details: { reason: 'sso_required' },
    });
    throw ssoRequired();
  }
  return await deps.sessions.open(deps.pool, person, 'password', device);
}

/**
 * Writes to the audit log of the person's tenant if the address has an account. In both cases the transaction
 * changes a row and its commit waits for the disk, so the response time reveals nothing. Attempts that the
 * limit refuses are not logged: the log of a tenant grows by a few hundred rows an hour per account at most.
 */
async function noteFailedLogin(
  { pool }: Pick<ApiDeps, 'pool'>,
  email: string,
  { pair }: LoginSubjects,
  reached: LimitReached,
): Promise<void> {
  await pool.begin(async (tx) => {
    await touchLoginFailure(tx, pair);
    const details = { reason: 'wrong_password' };
    await noteAccessOf(tx, email, { action: 'login_failed', details });
    if (reached !== null)
      await noteAccessOf(tx, email, { action: 'locked_out', details: { reason: reached } });
  });
}

export const ssoRequired = (): BillingError =>
  new BillingError(
    'forbidden',
    'sso_required',
    'Your company logs in through its identity provider.',
  );
