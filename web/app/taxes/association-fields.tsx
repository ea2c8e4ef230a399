import type { Control } from 'react-hook-form';
import * as z from 'zod';
import { CheckboxField, FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { TAX_BEHAVIORS } from '../../../schemas/words.ts';

/** What may be changed of an association as long as it exists. */
export const ChangeableTerms = z.object({
  tax_behavior: z.enum(TAX_BEHAVIORS),
  priority: z
    .string()
    .trim()
    .regex(/^\d{1,9}$/, 'must be a whole number, for example 0'),
  auto_apply: z.boolean(),
});
type ChangeableTerms = z.output<typeof ChangeableTerms>;

/** The same as the API takes it. */
export const termsOf = ({ tax_behavior, priority, auto_apply }: ChangeableTerms) => ({
  ...{ tax_behavior, auto_apply },
  priority: Number(priority),
});

/** How a tax is taken. */
export function AssociationFields<Fields extends ChangeableTerms>({
  control: given,
}: {
  readonly control: Control<Fields>;
}) {
  const control = given as unknown as Control<ChangeableTerms>;
  return (
    <>
      <FieldRow>
        <SelectField
          control={control}
          name="tax_behavior"
          label="Tax"
          isRequired
          choices={[
            ['exclusive', 'Added to the prices'],
            ['inclusive', 'Included in the prices'],
          ]}
        />
        <TextField
          control={control}
          name="priority"
          label="Priority"
          hint="The tax with the highest one is listed first."
          kind="decimal"
          isRequired
        />
      </FieldRow>
      <CheckboxField
        control={control}
        name="auto_apply"
        label="Tax invoices with it"
        hint="Without it the tax stays assigned, and no invoice has it."
      />
    </>
  );
}
