import { useQueryClient } from '@tanstack/react-query';
import { CreateEnvironmentBody } from '../../../schemas/environment.ts';
import { answerOf, api } from '../../client/api.ts';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { EnvironmentFields } from './environment-fields.tsx';

/** An environment without any record. */
export function CreateEnvironment({ onDone }: { readonly onDone: () => void }) {
  const queries = useQueryClient();
  const form = useApiForm(CreateEnvironmentBody, { name: '', type: 'development' });
  return (
    <Form
      form={form}
      submit="Create environment"
      onSubmit={async (body) => {
        await answerOf(api.POST('/environments', { body }));
        // The switch reads the same list.
        await queries.invalidateQueries({ queryKey: ['environments'] });
        notify('Environment created');
        onDone();
      }}
    >
      <EnvironmentFields control={form.control} />
    </Form>
  );
}
