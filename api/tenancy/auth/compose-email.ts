import { isPasswordRefused } from '../../../platform/identity/saml/enforced.ts';
import type { Message } from '../../../platform/mail/mailer.ts';
import type { Db } from '../../../postgres/client.ts';
import { noteAccess } from '../../../postgres/tables/access-audit.ts';
import { INVITATION_EMAIL, type QueuedEmail } from '../../../postgres/tables/email-queue.ts';
import { makePasswordToken, makeSignUpToken } from './one-time-token-repository.ts';
import { mayHavePassword } from './password-resets.ts';
import { findPerson } from './repository.ts';
import { hasSignUp } from './sign-up-repository.ts';

export interface EmailDeps {
  readonly pool: Db;
  /** Base URL at which people reach the product, without a trailing slash. */
  readonly publicUrl: string;
  /** The time of sending. */
  readonly nowMs: number;
}

/**
 * The message of a queued e-mail. The account is looked up here and not in the request, so that the request
 * does not reveal whether it exists. The token is created here, so that none waits in the queue. A message
 * never contains caller-supplied text: it might go to a stranger. Null if there is nothing to send.
 */
export async function composeEmail(deps: EmailDeps, email: QueuedEmail): Promise<Message | null> {
  const words = await wordsOf(deps, email);
  return words === null ? null : { id: email.id, to: email.recipient, ...words };
}

type Words = Pick<Message, 'subject' | 'text'>;

async function wordsOf(deps: EmailDeps, email: QueuedEmail): Promise<Words | null> {
  switch (email.kind) {
    case 'sign_up':
      return await signUpWords(deps, email);
    case INVITATION_EMAIL:
      return await invitationWords(deps, email);
    case 'password_reset':
      return await passwordResetWords(deps, email);
    case 'password_changed':
      return passwordChangedWords(deps);
    default:
      throw new Error(`There is no e-mail of the kind ${email.kind}.`);
  }
}

async function signUpWords(deps: EmailDeps, email: QueuedEmail): Promise<Words | null> {
  const { pool, publicUrl, nowMs } = deps;
  if ((await findPerson(pool, email.recipient)) !== null)
    return {
      subject: 'You have an account already',
      text: `Somebody, perhaps you, tried to sign up at ${publicUrl} with this address. It has an account
already, so nothing was changed. Log in with it. If the password is lost, set a new one:

${curl(publicUrl, '/auth/password/forgot', { email: email.recipient })}

If it was not you, there is nothing to do.
`,
    };
  const id = email.payload['sign_up_id']!;
  if (!(await hasSignUp(pool, id))) return null;
  const token = await makeSignUpToken(pool, id, nowMs);
  return {
    subject: 'Confirm your address',
    text: `Somebody, perhaps you, signed up at ${publicUrl} with this address. To confirm it, within 24 hours,
open this address and enter the password of the sign-up:

  ${publicUrl}/verify#${String(new URLSearchParams({ token }))}

Or send the token with the password:

${curl(publicUrl, '/auth/verify', { token, password: '...' })}

If it was not you, there is nothing to do: without the token no account is made.
`,
  };
}

/** Null if the person has been removed, or has set a password of their own since. */
async function invitationWords(deps: EmailDeps, email: QueuedEmail): Promise<Words | null> {
  const { pool, publicUrl, nowMs } = deps;
  const person = await findPerson(pool, email.recipient);
  if (person === null || person.id !== email.payload['user_id']) return null;
  if (await isPasswordRefused(pool, person))
    return {
      subject: 'You have been invited',
      text: `You have an account at ${publicUrl}. Log in through your company's identity provider:

${publicUrl}/v1/auth/saml/${person.tenant_id}/login

If you do not know why, ignore this message.
`,
    };
  const token = await makePasswordToken(pool, person, 'invitation', nowMs);
  return {
    subject: 'You have been invited',
    text: `You have an account at ${publicUrl} with this address. To choose your password, within seven days and
once, open this address:

  ${publicUrl}/reset-password#${String(new URLSearchParams({ token }))}

Or send the token with the password:

${curl(publicUrl, '/auth/password/reset', { token, new_password: '...' })}

If you do not know why, ignore this message.
`,
  };
}

async function passwordResetWords(deps: EmailDeps, email: QueuedEmail): Promise<Words | null> {
  const { pool, publicUrl, nowMs } = deps;
  const person = await findPerson(pool, email.recipient);
  if (person === null) return null;
  if (!mayHavePassword(person) || (await isPasswordRefused(pool, person)))
    return {
      subject: 'Log in through your company',
      text: `Somebody, perhaps you, asked for a new password at ${publicUrl}. Your account has none: log in
through your company's identity provider.

${publicUrl}/v1/auth/saml/${person.tenant_id}/login
`,
    };
  const token = await makePasswordToken(pool, person, 'email', nowMs);
  await noteAccess(pool, person, {
    action: 'password_reset_requested',
    details: { reason: 'email' },
    actor: { kind: 'public', ...email.payload },
  });
  return {
    subject: 'Set a new password',
    text: `Somebody, perhaps you, asked for a new password at ${publicUrl}. To set it, within an hour and once,
open this address:

  ${publicUrl}/reset-password#${String(new URLSearchParams({ token }))}

Or send the token with the password:

${curl(publicUrl, '/auth/password/reset', { token, new_password: '...' })}

All sessions of the account end then. If it was not you, there is nothing to do: the password stays.
`,
  };
}

const passwordChangedWords = ({ publicUrl }: EmailDeps): Words => ({
  subject: 'Your password was changed',
  text: `The password of your account at ${publicUrl} was changed. If it was you, there is nothing to do.
If it was not, set a new one at once and tell a super admin of your tenant:

${curl(publicUrl, '/auth/password/forgot', { email: 'your address' })}
`,
});

/** The call for the recipient to paste into a shell. */
export const curl = (publicUrl: string, path: string, body: Record<string, string>): string =>
  `  curl -X POST ${publicUrl}/v1${path} -H 'content-type: application/json' \\
    -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`;
