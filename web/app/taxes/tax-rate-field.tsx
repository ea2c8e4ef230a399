import { useQuery } from '@tanstack/react-query';
import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import { answerOf, api } from '../../client/api.ts';
import { SelectField } from '../../ui/fields.tsx';
import { formatDecimal } from '../../ui/text.ts';

const RATES_SHOWN = 200;

/** Chooses one of the active tax rates by its code. */
export function TaxRateField<Fields extends FieldValues>({
  isRequired = true,
  ...props
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly isRequired?: boolean;
}) {
  const rates = useQuery({
    queryKey: ['tax-rates-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/taxes/rates/search', {
          body: {
            limit: RATES_SHOWN,
            filters: [{ field: 'tax_rate_status', operator: 'eq', value: { string: 'ACTIVE' } }],
          },
          signal,
        }),
      ),
  });
  const offered = (rates.data?.items ?? []).map(
    ({ code, name, percentage_value }) =>
      [code, `${name}: ${formatDecimal(percentage_value)}%`] as const,
  );
  const unset =
    offered.length === 0 ? 'There is no tax rate yet' : isRequired ? 'Choose a tax rate' : 'None';
  return (
    <SelectField
      {...props}
      label="Tax rate"
      isRequired={isRequired}
      choices={[['', unset], ...offered]}
    />
  );
}
