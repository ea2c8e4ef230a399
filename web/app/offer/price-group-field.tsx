import { useQuery } from '@tanstack/react-query';
import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import { answerOf, api } from '../../client/api.ts';
import { SelectField } from '../../ui/fields.tsx';

const GROUPS_SHOWN = 200;

/** Chooses a price group, or none. */
export function PriceGroupField<Fields extends FieldValues>({
  control,
  name,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
}) {
  const { data } = useQuery({
    queryKey: ['price-groups-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/groups/search', { body: { entity_type: 'price', limit: GROUPS_SHOWN }, signal }),
      ),
  });
  return (
    <SelectField
      control={control}
      name={name}
      label="Price group"
      hint="Spend alerts watch the usage of all prices of a group as one amount."
      choices={[
        ['', 'None'],
        ...(data?.items ?? []).map(({ id, name: text }) => [id, text] as const),
      ]}
    />
  );
}
