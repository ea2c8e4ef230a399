import { useQueryClient } from '@tanstack/react-query';
import { CreateEnvironmentBody } from '../../../schemas/environment.ts';
import type { Environment } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

const Body = CreateEnvironmentBody.pick({ name: true });

export function RenameEnvironment({
  environment,
  onDone,
}: {
  readonly environment: Environment;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const form = useApiForm(Body, { name: environment.name });
  return (
    <Form
      form={form}
      submit="Rename environment"
      onSubmit={async (body) => {
        const params = { path: { id: environment.id } };
        await answerOf(api.PUT('/environments/{id}', { params, body }));
        await queries.invalidateQueries({ queryKey: ['environments'] });
        notify('Environment renamed');
        onDone();
      }}
    >
      <TextField
        control={form.control}
        name="name"
        label="Name"
        hint="The id stays, and with it all links and keys."
        isRequired
        autoFocus
      />
    </Form>
  );
}
