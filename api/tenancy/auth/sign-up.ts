import { BillingError } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Device, OpenedSession } from '../../../platform/identity/sessions.ts';
import { queueEmail } from '../../../postgres/tables/email-queue.ts';
import type { SignUpBody, VerifyBody } from '../../../schemas/tenancy.ts';
import type { ApiDeps } from '../../deps.ts';
import { makeTenant } from './make-tenant.ts';
import { findToken, SIGN_UP_MS, takeToken, tokenRefused } from './one-time-token-repository.ts';
import { deleteSignUp, findSignUp, insertSignUp } from './sign-up-repository.ts';
import { assertNotAddress, hashPassword, isPassword } from '../users/passwords.ts';

/**
 * Without e-mail: creates a tenant at once, 409 if the address has an account. With e-mail: only sends a
 * message to the address, with the same work and the same answer whether or not it has an account.
 * `verifySignUp` creates the tenant when the recipient of that message confirms.
 */
export async function signUp(
  deps: ApiDeps,
  body: SignUpBody,
  device: Device,
): Promise<OpenedSession | { readonly queued: true }> {
  assertOpen(deps);
  if (body.password) assertNotAddress(body.password, body.email, 'password');
  if (!deps.sendsEmail) {
    const password_hash = body.password ? await hashPassword(body.password) : null;
    const user = await makeTenant(deps.pool, deps, {
      email: body.email.toLowerCase(),
      tenant_name: body.tenant_name ?? null,
      password_hash,
    });
    return await deps.sessions.open(deps.pool, user, 'password', device);
  }
  await deps.loginLimit.countEmailRequest(device.ip);
  const password_hash = body.password ? await hashPassword(body.password) : null;
  const now = deps.clock.now();
  const sign_up = {
    id: deps.ids.next('signup'),
    email: body.email.toLowerCase(),
    tenant_name: body.tenant_name ?? null,
    password_hash,
    expires_at: isoTime(now + SIGN_UP_MS),
    created_at: isoTime(now),
  };
  await deps.pool.begin(async (tx) => {
    await insertSignUp(tx, sign_up);
    await queueEmail(tx, {
      id: deps.ids.next('email'),
      kind: 'sign_up',
      recipient: sign_up.email,
      payload: { sign_up_id: sign_up.id },
      created_at: sign_up.created_at,
    });
  });
  return { queued: true };
}

/**
 * Creates the tenant of a sign-up after its address is verified. The password of the sign-up is required
 * again: if a stranger signed up with this address, its owner must not create an account that the stranger
 * can open.
 */
export async function verifySignUp(
  deps: ApiDeps,
  body: VerifyBody,
  device: Device,
): Promise<OpenedSession> {
  assertOpen(deps);
  const now = deps.clock.now();
  const found = await findToken(deps.pool, 'sign_up', body.token, now);
  if (found === null) throw tokenRefused();
  const signUp = await findSignUp(deps.pool, found.sign_up_id);
  if (signUp === null) throw tokenRefused();
  const { password_hash } = signUp;
  if (password_hash !== null && !(await isPassword(password_hash, body.password ?? '')))
    throw new BillingError(
      'unauthenticated',
      'unauthenticated',
      'password: differs from the password of the sign-up. If the sign-up was not yours, sign up again.',
    );
  const user = await makeTenant(deps.pool, deps, signUp, async (tx) => {
    if ((await takeToken(tx, 'sign_up', body.token, now)) === null) throw tokenRefused();
    await deleteSignUp(tx, found.sign_up_id);
  });
  return await deps.sessions.open(deps.pool, user, 'password', device);
}

function assertOpen({ signUp }: ApiDeps): void {
  if (signUp === 'invited')
    throw new BillingError(
      'forbidden',
      'sign_up_closed',
      'Sign-up is by invitation only: ask a super admin of your tenant, or the operator (SIGN_UP).',
    );
}
