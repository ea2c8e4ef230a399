import { curl } from '../api/tenancy/auth/compose-email.ts';

/** Output of the first start for the first person: the page that sets their password, and the same as API calls. */
export function firstLogin(
  baseUrl: string,
  { email, token }: { readonly email: string; readonly token: string },
): string {
  return `The first person is ${email}. Set the password in the browser, once and within 24 hours:

  ${baseUrl}/reset-password#${String(new URLSearchParams({ token }))}

Or set it and log in through the API:

${curl(baseUrl, '/auth/password/reset', { token, new_password: '...' })}
${curl(baseUrl, '/auth/login', { email, password: '...' })}

Later: npm run maintain -- reset-password ${email}
`;
}
