import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { MetadataFields, metadataOf, MetadataRows, rowsOf } from '../../app/metadata-fields.tsx';
import { FieldRow, SelectField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { TAX_RATE_STATUSES } from '../../../schemas/words.ts';

const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  code: z.string().trim().min(1, 'is required').max(255),
  percentage_value: z.string().trim().min(1, 'is required'),
  tax_rate_status: z.enum(TAX_RATE_STATUSES),
  description: z.string().max(5_000),
  metadata: MetadataRows,
});
type Body = z.output<typeof Body>;

/** The terms of a tax rate. The percentage stays as it was created. */
export function TaxRateForm({
  rate,
  submit,
  onSubmit,
}: {
  /** Null: it is created. */
  readonly rate: ApiRecord<'TaxRate'> | null;
  readonly submit: string;
  readonly onSubmit: (
    written: Omit<Body, 'metadata'> & { readonly metadata: Record<string, string> },
  ) => Promise<void>;
}) {
  const form = useApiForm(Body, {
    name: rate?.name ?? '',
    code: rate?.code ?? '',
    percentage_value: rate?.percentage_value ?? '',
    tax_rate_status: rate?.tax_rate_status ?? 'ACTIVE',
    description: rate?.description ?? '',
    metadata: rowsOf(rate?.metadata ?? {}),
  });
  const { control } = form;
  return (
    <Form
      form={form}
      submit={submit}
      onSubmit={({ metadata, ...written }) =>
        onSubmit({ ...written, metadata: metadataOf(metadata) })
      }
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField
        control={control}
        name="code"
        label="Code"
        hint="A stable identifier for your code, for example vat-be."
        isRequired
      />
      <FieldRow>
        <TextField
          control={control}
          name="percentage_value"
          label="Percentage"
          kind="decimal"
          placeholder="21"
          isRequired
          isDisabled={rate !== null}
        />
        <SelectField
          control={control}
          name="tax_rate_status"
          label="Status"
          isRequired
          choices={[
            ['ACTIVE', 'Active'],
            ['INACTIVE', 'Inactive: taxes nothing'],
          ]}
        />
      </FieldRow>
      <TextAreaField control={control} name="description" label="Description" rows={2} />
      <MetadataFields control={control} />
    </Form>
  );
}
