import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';

const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  lookup_key: z.string().trim().min(1, 'is required').max(255),
  description: z.string().max(5_000),
});

/** The terms of an addon itself. The lookup key stays as it was created. */
export function AddonForm({
  addon,
  submit,
  onSubmit,
}: {
  /** Null: it is created. */
  readonly addon: ApiRecord<'Addon'> | null;
  readonly submit: string;
  readonly onSubmit: (written: z.input<typeof Body>) => Promise<void>;
}) {
  const form = useApiForm(Body, {
    name: addon?.name ?? '',
    lookup_key: addon?.lookup_key ?? '',
    description: addon?.description ?? '',
  });
  const { control } = form;
  return (
    <Form form={form} submit={submit} onSubmit={onSubmit}>
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      {addon === null ? (
        <TextField
          control={control}
          name="lookup_key"
          label="Lookup key"
          hint="A stable identifier for your code, for example extra-seats."
          isRequired
        />
      ) : null}
      <TextAreaField control={control} name="description" label="Description" rows={2} />
    </Form>
  );
}
