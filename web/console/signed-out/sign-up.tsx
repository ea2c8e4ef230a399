import { useState } from 'react';
import * as z from 'zod';
import { SignUpBody } from '../../../schemas/tenancy.ts';
import { signUp, verifyAddress } from '../../client/session.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { FRAGMENT } from './fragment.ts';
import type { FormPath } from './paths.ts';

const NewCompany = SignUpBody.extend({
  password: z.string().min(8, 'needs at least 8 characters').max(200),
  tenant_name: z.string().min(1, 'is required').max(255),
});

export function SignUp() {
  const [isSent, setSent] = useState(false);
  const form = useApiForm(NewCompany, { email: '', password: '', tenant_name: '' });
  if (isSent)
    return (
      <p role="status">
        An e-mail was sent to this address. Open its link to confirm that the address is yours.
      </p>
    );
  return (
    <Form
      form={form}
      submit="Create company"
      onSubmit={async (values) => setSent(!(await signUp(values)))}
    >
      <TextField
        control={form.control}
        name="tenant_name"
        label="Company"
        autoComplete="organization"
        isRequired
      />
      <TextField
        control={form.control}
        name="email"
        label="E-mail"
        kind="email"
        autoComplete="username"
        isRequired
      />
      <TextField
        control={form.control}
        name="password"
        label="Password"
        kind="password"
        autoComplete="new-password"
        hint="At least 8 characters."
        isRequired
      />
    </Form>
  );
}

const Verification = z.object({
  token: z.string().trim().min(1, 'is required').max(200),
  password: z.string().max(200),
});

/** The link of the sign-up's e-mail. The password proves that the sign-up was this person's own. */
export function Verify({ go }: { readonly go: (path: FormPath) => void }) {
  const token = FRAGMENT.get('token') ?? '';
  const form = useApiForm(Verification, { token, password: '' });
  return (
    <Form
      form={form}
      submit="Confirm address"
      onSubmit={async (values) => {
        await verifyAddress(values);
        go('/');
      }}
    >
      {token === '' ? (
        <TextField control={form.control} name="token" label="Code from the e-mail" isRequired />
      ) : null}
      <TextField
        control={form.control}
        name="password"
        label="Password"
        kind="password"
        autoComplete="current-password"
        hint="The one that you chose when you signed up."
        isRequired
      />
    </Form>
  );
}
