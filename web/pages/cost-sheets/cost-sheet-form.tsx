import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';

const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  lookup_key: z.string().max(255),
  description: z.string().max(5_000),
});

/** The terms of a cost sheet itself. */
export function CostSheetForm({
  sheet,
  submit,
  onSubmit,
}: {
  /** Null: it is created. */
  readonly sheet: ApiRecord<'Costsheet'> | null;
  readonly submit: string;
  readonly onSubmit: (written: z.input<typeof Body>) => Promise<void>;
}) {
  const form = useApiForm(Body, {
    name: sheet?.name ?? '',
    lookup_key: sheet?.lookup_key ?? '',
    description: sheet?.description ?? '',
  });
  const { control } = form;
  return (
    <Form form={form} submit={submit} onSubmit={onSubmit}>
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField
        control={control}
        name="lookup_key"
        label="Lookup key"
        hint="A stable identifier for your code, for example costs-2027."
      />
      <TextAreaField control={control} name="description" label="Description" rows={2} />
    </Form>
  );
}
