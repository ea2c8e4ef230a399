import { useState } from 'react';
import * as z from 'zod';
import { Refusal } from '../client/refusal.ts';
import { confirmLogin } from '../client/session.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';

const Body = z.object({ password: z.string().min(1, 'is required') });

/** The form of the dialog. It is a module of its own because forms are not part of the first load. */
export function ConfirmPassword({ onDone }: { readonly onDone: () => void }) {
  const form = useApiForm(Body, { password: '' });
  const [isElsewhere, setElsewhere] = useState(false);
  if (isElsewhere)
    return (
      <p>
        Your company signs you in. <a href="/company-sign-in">Sign in again</a>, then repeat what
        you were doing.
      </p>
    );
  return (
    <Form
      form={form}
      submit="Confirm"
      onSubmit={async ({ password }) => {
        try {
          await confirmLogin(password);
          onDone();
        } catch (error) {
          if (!(error instanceof Refusal) || error.code !== 'sso_required') throw error;
          setElsewhere(true);
        }
      }}
    >
      <p>Changes to keys, people and single sign-on, and refunds, need a recent login.</p>
      <TextField
        control={form.control}
        name="password"
        label="Your password"
        kind="password"
        autoComplete="current-password"
        isRequired
        autoFocus
      />
    </Form>
  );
}
