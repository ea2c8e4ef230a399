import { alreadyExists, BillingError } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { OpenedSession } from '../../../platform/identity/sessions.ts';
import { violatedConstraint } from '../../../postgres/client.ts';
import type { SignUpBody } from '../../../schemas/tenancy.ts';
import type { ApiDeps } from '../../deps.ts';
import { hashPassword } from '../users/passwords.ts';

/** A new tenant with its first person, who is super admin, and a development environment. */
export async function signUp(deps: ApiDeps, body: SignUpBody): Promise<OpenedSession> {
  if (deps.signUp === 'invited')
    throw new BillingError(
      'forbidden',
      'sign_up_closed',
      'Nobody signs up here: ask a super admin of your tenant for an invitation, or the operator (SIGN_UP).',
    );
  const { ids, clock } = deps;
  const at = isoTime(clock.now());
  const times = { created_at: at, updated_at: at };
  const email = body.email.toLowerCase();
  const password_hash = body.password ? await hashPassword(body.password) : null;
  const tenant = { id: ids.next('tenant'), name: body.tenant_name ?? email, ...times };
  const user = { id: ids.next('user'), tenant_id: tenant.id };
  const by = { created_by: user.id, updated_by: user.id, ...times };
  try {
    await deps.pool.begin(async (tx) => {
      await tx`insert into tenants ${tx(tenant)}`;
      await tx`insert into users ${tx({ ...user, ...by, email, type: 'user', roles: ['super_admin'], password_hash })}`;
      await tx`insert into environments ${tx({
        id: ids.next('env'),
        tenant_id: tenant.id,
        name: 'Sandbox',
        type: 'development',
        ...by,
      })}`;
    });
  } catch (error) {
    throw violatedConstraint(error) === 'users_email_key'
      ? alreadyExists('account', 'email', body.email)
      : error;
  }
  return await deps.sessions.open(user, 'password');
}
