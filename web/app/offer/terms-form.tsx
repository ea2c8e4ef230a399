import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';

const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  lookup_key: z.string().max(255),
  description: z.string().max(5_000),
});

/** Name, lookup key and description of a plan or a cost sheet. */
export function TermsForm({
  stored,
  exampleKey,
  submit,
  onSubmit,
}: {
  /** Null: it is created. */
  readonly stored: ApiRecord<'Plan'> | ApiRecord<'Costsheet'> | null;
  /** A lookup key, as an example. */
  readonly exampleKey: string;
  readonly submit: string;
  readonly onSubmit: (written: z.input<typeof Body>) => Promise<void>;
}) {
  const form = useApiForm(Body, {
    name: stored?.name ?? '',
    lookup_key: stored?.lookup_key ?? '',
    description: stored?.description ?? '',
  });
  const { control } = form;
  return (
    <Form form={form} submit={submit} onSubmit={onSubmit}>
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField
        control={control}
        name="lookup_key"
        label="Lookup key"
        hint={`A stable identifier for your code, for example ${exampleKey}.`}
      />
      <TextAreaField control={control} name="description" label="Description" rows={2} />
    </Form>
  );
}
