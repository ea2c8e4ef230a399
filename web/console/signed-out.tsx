import { useEffect, useState } from 'react';
import { z } from 'zod';
import { LogInBody, SignUpBody } from '../../schemas/tenancy.ts';
import { TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';
import { signIn, signUp } from '../client/session.ts';
import styles from './signed-out.module.css';

/** Sign-in, and sign-up at `/sign-up`: ordinary forms that password managers fill. */
export function SignedOut({ hasEnded }: { readonly hasEnded: boolean }) {
  const [isNew, setNew] = useState(location.pathname === '/sign-up');
  useEffect(() => {
    document.title = isNew ? 'Sign up · Meterline' : 'Sign in · Meterline';
  }, [isNew]);
  const change = (): void => {
    history.replaceState(null, '', isNew ? '/' : '/sign-up');
    setNew(!isNew);
  };
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <p className={styles.brand}>
          <span className={styles.mark} aria-hidden="true" />
          Meterline
        </p>
        <h1>{isNew ? 'Create your company' : 'Sign in'}</h1>
        {hasEnded ? <p className={styles.note}>Your session has ended. Sign in again.</p> : null}
        {isNew ? <SignUp /> : <SignIn />}
        <p className={styles.other}>
          {isNew ? 'Already have an account?' : 'New here?'}{' '}
          <button type="button" onClick={change}>
            {isNew ? 'Sign in' : 'Create a company'}
          </button>
        </p>
      </div>
    </main>
  );
}

function SignIn() {
  const form = useApiForm(LogInBody, { email: '', password: '' });
  return (
    <Form form={form} submit="Sign in" onSubmit={signIn}>
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
        autoComplete="current-password"
        isRequired
      />
    </Form>
  );
}

const NewCompany = SignUpBody.extend({
  password: z.string().min(8, 'needs at least 8 characters').max(200),
  tenant_name: z.string().min(1, 'is required').max(255),
});

function SignUp() {
  const [isSent, setSent] = useState(false);
  const form = useApiForm(NewCompany, { email: '', password: '', tenant_name: '' });
  if (isSent) return <p role="status">Read the e-mail that was sent to this address to go on.</p>;
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
        hint="At least 8 characters"
        isRequired
      />
    </Form>
  );
}
