import { useEffect, useState } from 'react';
import * as z from 'zod';
import { answerOf, api } from '../../client/api.ts';
import { keepSession } from '../../client/session.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { FRAGMENT } from './fragment.ts';
import type { FormPath } from './paths.ts';

const Body = z.object({ tenant: z.string().trim().min(1, 'is required').max(255) });

const TENANT = 'meterline-company';
const STATE = 'meterline-sso-state';

/** Sign-in through the identity provider of a company. */
export function CompanySignIn() {
  const form = useApiForm(Body, { tenant: localStorage.getItem(TENANT) ?? '' });
  return (
    <Form form={form} submit="Continue" onSubmit={({ tenant }) => begin(tenant.trim())}>
      <TextField
        control={form.control}
        name="tenant"
        label="Company id"
        hint="Your administrator has it. It begins with tenant_."
        isRequired
      />
    </Form>
  );
}

/** The metadata tell whether the company has single sign-on, so that a wrong id is refused on this page. */
async function begin(tenant: string): Promise<void> {
  const path = { tenant };
  await answerOf(
    api.GET('/auth/saml/{tenant}/metadata', { params: { path }, parseAs: 'text' as never }),
  );
  const state = crypto.randomUUID();
  localStorage.setItem(TENANT, tenant);
  sessionStorage.setItem(STATE, state);
  location.assign(`/v1/auth/saml/${encodeURIComponent(tenant)}/login?state=${state}`);
}

const FOREIGN =
  'This sign-in did not begin in this browser, so it is not continued. Begin it again.';

/**
 * The return from the identity provider. Only a sign-in that began in this tab is kept: a foreign link could
 * otherwise sign a person in to somebody else's account.
 */
export function SingleSignOn({ go }: { readonly go: (path: FormPath) => void }) {
  const [failure, setFailure] = useState<Error | null>(null);
  const state = FRAGMENT.get('state') ?? '';
  const isOwn = state !== '' && state === sessionStorage.getItem(STATE);
  useEffect(() => {
    if (!isOwn || isKept) return;
    isKept = true;
    keepSession(FRAGMENT.get('refresh_token') ?? '').then(() => {
      sessionStorage.removeItem(STATE);
      go('/');
    }, setFailure);
  }, [isOwn, go]);
  if (failure !== null) return <Failure error={failure} />;
  return <p role="status">{isOwn ? 'Opening your session …' : FOREIGN}</p>;
}

/** A refresh token is used once; an effect may run twice. */
let isKept = false;
