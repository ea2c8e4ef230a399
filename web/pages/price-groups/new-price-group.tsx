import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import * as z from 'zod';
import { MetadataFields, metadataOf, MetadataRows } from '../../app/metadata-fields.tsx';
import { answerOf, api } from '../../client/api.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  lookup_key: z.string().trim().min(1, 'is required').max(255),
  metadata: MetadataRows,
});

/** Creates a group without prices. Its name and key stay as they are created. */
export function NewPriceGroup() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(Body, { name: '', lookup_key: '', metadata: [] });
  const { control } = form;
  return (
    <Form
      form={form}
      submit="Create price group"
      onSubmit={async ({ metadata, ...names }) => {
        const { id } = await answerOf(
          api.POST('/groups', {
            body: { ...names, entity_type: 'price', metadata: metadataOf(metadata) },
          }),
        );
        notify('Price group created');
        await queries.invalidateQueries();
        await navigate({ to: `/price-groups/${id}` });
      }}
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField
        control={control}
        name="lookup_key"
        label="Lookup key"
        hint="A stable identifier for your code, for example gpt-models."
        isRequired
      />
      <MetadataFields control={control} />
      <p>The name and the key stay as they are created. Prices are added on the next page.</p>
    </Form>
  );
}
