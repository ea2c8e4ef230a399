import { useState } from 'react';
import * as z from 'zod';
import { ForgotPasswordBody } from '../../../schemas/tenancy.ts';
import { answerOf, api } from '../../client/api.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { FRAGMENT } from './fragment.ts';

/** Asks for an e-mail with a link that sets a new password. */
export function ForgotPassword() {
  const [message, setMessage] = useState<string | null>(null);
  const form = useApiForm(ForgotPasswordBody, { email: '' });
  if (message !== null) return <p role="status">{message}.</p>;
  return (
    <Form
      form={form}
      submit="Send e-mail"
      onSubmit={async (body) =>
        setMessage((await answerOf(api.POST('/auth/password/forgot', { body }))).message)
      }
    >
      <p>You get an e-mail with a link that sets a new one.</p>
      <TextField
        control={form.control}
        name="email"
        label="E-mail"
        kind="email"
        autoComplete="username"
        isRequired
      />
    </Form>
  );
}

const NewPassword = z.object({
  token: z.string().trim().min(1, 'is required').max(200),
  new_password: z.string().min(8, 'needs at least 8 characters').max(200),
});

/** The link of that e-mail, or of the operator: sets the password and ends all sessions. */
export function ResetPassword() {
  const token = FRAGMENT.get('token') ?? '';
  const [message, setMessage] = useState<string | null>(null);
  const form = useApiForm(NewPassword, { token, new_password: '' });
  if (message !== null) return <p role="status">{message}.</p>;
  return (
    <Form
      form={form}
      submit="Set password"
      onSubmit={async (body) =>
        setMessage((await answerOf(api.POST('/auth/password/reset', { body }))).message)
      }
    >
      {token === '' ? (
        <TextField control={form.control} name="token" label="Code from the e-mail" isRequired />
      ) : null}
      <TextField
        control={form.control}
        name="new_password"
        label="New password"
        kind="password"
        autoComplete="new-password"
        hint="At least 8 characters. All sessions of the account end."
        isRequired
      />
    </Form>
  );
}
