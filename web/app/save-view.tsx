import { useQueryClient } from '@tanstack/react-query';
import { CreateSavedViewBody } from '../../schemas/saved-view.ts';
import { answerOf, api } from '../client/api.ts';
import { CheckboxField, TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';
import { notify } from '../ui/toasts.tsx';

/** The form that saves the present filters of a page under a name. */
export function SaveView({
  page,
  query,
  onDone,
}: {
  readonly page: string;
  /** The filters as a query string. */
  readonly query: string;
  readonly onDone: () => void;
}) {
  const cache = useQueryClient();
  const form = useApiForm(CreateSavedViewBody, { name: '', page, query, is_shared: false });
  return (
    <Form
      form={form}
      submit="Save view"
      onSubmit={async ({ name, is_shared }) => {
        const body = { name, page, query, is_shared: is_shared === true };
        await answerOf(api.POST('/saved-views', { body }));
        await cache.invalidateQueries({ queryKey: ['saved-views', page] });
        notify('View saved');
        onDone();
      }}
    >
      <TextField control={form.control} name="name" label="Name" isRequired autoFocus />
      <CheckboxField
        control={form.control}
        name="is_shared"
        label="Share with everybody in this environment"
      />
    </Form>
  );
}
