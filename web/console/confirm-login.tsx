import { useEffect, useRef, useState } from 'react';
import * as z from 'zod';
import { Refusal } from '../client/refusal.ts';
import { askBy, confirmLogin } from '../client/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';

/** Asks for the password when a request needs a recent login; the request is then sent again. */
export function ConfirmLogin() {
  const [isOpen, setOpen] = useState(false);
  const waiting = useRef<(isConfirmed: boolean) => void>(() => undefined);
  useEffect(
    () =>
      askBy(
        () =>
          new Promise((resolve) => {
            // A request that waits already is answered: one dialog for one request.
            waiting.current(false);
            waiting.current = resolve;
            setOpen(true);
          }),
      ),
    [],
  );
  const end = (isConfirmed: boolean): void => {
    waiting.current(isConfirmed);
    waiting.current = () => undefined;
    setOpen(false);
  };
  return (
    <Dialog title="Confirm that it is you" isOpen={isOpen} onClose={() => end(false)}>
      <Password onDone={() => end(true)} />
    </Dialog>
  );
}

const Body = z.object({ password: z.string().min(1, 'is required') });

function Password({ onDone }: { readonly onDone: () => void }) {
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
      <p>
        Keys, people, single sign-on and money that is paid back need a login of the last minutes.
      </p>
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
