import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { SearchField, type Found } from '../../ui/search-field.tsx';

const SHOWN = 8;

/** Chooses a customer. */
export function CustomerField<Fields extends FieldValues>(props: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
}) {
  return (
    <SearchField
      {...props}
      label="Customer"
      noun="customers"
      find={async (id, signal) =>
        foundOf(await answerOf(api.GET('/customers/{id}', { params: { path: { id } }, signal })))
      }
      search={async (text, signal) => {
        const filters =
          text === ''
            ? []
            : [{ field: 'name', operator: 'contains' as const, value: { string: text } }];
        const { items } = await answerOf(
          api.POST('/customers/search', { body: { limit: SHOWN, filters }, signal }),
        );
        return items.map(foundOf);
      }}
    />
  );
}

const foundOf = ({ id, name, external_id }: ApiRecord<'Customer'>): Found => ({
  id,
  name,
  detail: external_id,
});
