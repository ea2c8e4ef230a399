import { LogInBody } from '../../../schemas/tenancy.ts';
import { signIn } from '../../client/session.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';

export function SignIn() {
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
