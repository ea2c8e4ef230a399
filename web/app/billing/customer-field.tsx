import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { contains } from '../list/filters.tsx';
import { SearchField, type Found } from '../../ui/search-field.tsx';

const SHOWN = 8;

/** Chooses a customer by a part of the name, or of the external id if no name has it. */
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
        const byName = await customersWith('name', text, signal);
        return byName.length > 0 || text === ''
          ? byName
          : await customersWith('external_id', text, signal);
      }}
    />
  );
}

async function customersWith(
  field: 'name' | 'external_id',
  text: string,
  signal: AbortSignal,
): Promise<readonly Found[]> {
  const body = { limit: SHOWN, filters: contains(field, text) };
  const { items } = await answerOf(api.POST('/customers/search', { body, signal }));
  return items.map(foundOf);
}

const foundOf = ({ id, name, external_id }: ApiRecord<'Customer'>): Found => ({
  id,
  name,
  detail: external_id,
});
