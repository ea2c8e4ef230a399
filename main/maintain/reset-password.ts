import { curl } from '../../api/tenancy/auth/compose-email.ts';
import { makePasswordToken } from '../../api/tenancy/auth/one-time-token-repository.ts';
import { mayHavePassword } from '../../api/tenancy/auth/password-resets.ts';
import { findPerson } from '../../api/tenancy/auth/repository.ts';
import { noteAccess } from '../../postgres/tables/access-audit.ts';
import { Misused, type MaintainCommand } from './command.ts';

function emailOf(words: readonly string[]): string {
  const [email, ...more] = words;
  if (email === undefined || more.length > 0 || !/^[^@\s]+@[^@\s]+$/.test(email))
    throw new Misused('takes one e-mail address');
  return email;
}

export const resetPassword: MaintainCommand = {
  name: 'reset-password',
  takes: 'EMAIL',
  summary: 'prints a call that sets a new password for the person, once, within 24 hours',
  plan(words) {
    return `makes a token that sets a new password for ${emailOf(words)}; the old one works until then`;
  },
  async run({ runtime: { pool, clock, config }, words, instance, say }) {
    const email = emailOf(words);
    const person = await findPerson(pool, email);
    if (person === null) return { line: `no account has the address ${email}`, ok: false };
    if (!mayHavePassword(person)) {
      const line = `${email} has no password: the account logs in through an identity provider`;
      return { line, ok: false };
    }
    const token = await makePasswordToken(pool, person, 'operator', clock.now());
    await noteAccess(pool, person, {
      action: 'password_reset_requested',
      details: { reason: 'operator' },
    });
    const base = config.PUBLIC_URL ?? instance?.base_url ?? `http://127.0.0.1:${config.PORT}`;
    say(`\n${curl(base, '/auth/password/reset', { token, new_password: '...' })}\n`);
    return {
      line: `tenant=${person.tenant_id} user=${person.id}: good once, within 24 hours`,
      ok: true,
    };
  },
};
