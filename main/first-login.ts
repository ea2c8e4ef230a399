import { curl } from '../api/tenancy/auth/compose-email.ts';

/** Output of the first start for the first person: the calls that set their password and log in. */
export function firstLogin(
  baseUrl: string,
  { email, token }: { readonly email: string; readonly token: string },
): string {
  return `The first person is ${email}. Set the password, once and within 24 hours, and log in:

${curl(baseUrl, '/auth/password/reset', { token, new_password: '...' })}
${curl(baseUrl, '/auth/login', { email, password: '...' })}

Later: npm run maintain -- reset-password ${email}
`;
}
