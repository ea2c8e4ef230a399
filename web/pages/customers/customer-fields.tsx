import type { Control } from 'react-hook-form';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';

/** What a new customer and an edited one have in common; texts of the fields. */
export interface CustomerValues {
  readonly name?: string | undefined;
  readonly external_id?: string | undefined;
  readonly email?: string | null | undefined;
  readonly timezone?: string | null | undefined;
  readonly billing_currency?: string | null | undefined;
  readonly tax_treatment?: string | null | undefined;
  readonly address_line1?: string | null | undefined;
  readonly address_line2?: string | null | undefined;
  readonly address_postal_code?: string | null | undefined;
  readonly address_city?: string | null | undefined;
  readonly address_state?: string | null | undefined;
  readonly address_country?: string | null | undefined;
}

/** Name, address and billing terms of a customer. */
export function CustomerFields<Fields extends CustomerValues>({
  control: given,
}: {
  readonly control: Control<Fields>;
}) {
  const control = given as unknown as Control<CustomerValues>;
  return (
    <>
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <TextField
        control={control}
        name="external_id"
        label="External id"
        hint="The id that your events carry as external_customer_id."
        isRequired
      />
      <TextField control={control} name="email" label="E-mail" kind="email" />
      <FieldRow>
        <TextField
          control={control}
          name="timezone"
          label="Time zone"
          hint="Billing days and months begin at midnight in this time zone."
        />
        <TextField
          control={control}
          name="billing_currency"
          label="Currency"
          kind="currency"
          placeholder="USD"
        />
      </FieldRow>
      <SelectField
        control={control}
        name="tax_treatment"
        label="Tax"
        isRequired
        choices={[
          ['taxable', 'Taxable'],
          ['exempt', 'Exempt: invoices have no tax'],
        ]}
      />
      <TextField control={control} name="address_line1" label="Address" />
      <TextField control={control} name="address_line2" label="Address, second line" />
      <FieldRow>
        <TextField control={control} name="address_postal_code" label="Postal code" />
        <TextField control={control} name="address_city" label="City" />
      </FieldRow>
      <FieldRow>
        <TextField control={control} name="address_state" label="State" />
        <TextField
          control={control}
          name="address_country"
          label="Country"
          hint="Two letters, for example BE."
        />
      </FieldRow>
    </>
  );
}
