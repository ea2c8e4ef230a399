import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useController, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { SearchFilter } from '../../ui/filter-bar.tsx';
import styles from './customer-field.module.css';

const SHOWN = 8;

/** Chooses a customer: a search by name, then one of the first matches. */
export function CustomerField<Fields extends FieldValues>({
  control,
  name,
  label,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label: string;
  readonly isRequired?: boolean;
}) {
  const { field, fieldState } = useController({ control, name });
  const [typed, setTyped] = useState('');
  const group = useId();
  const id = String(field.value ?? '');
  const chosen = useQuery({
    queryKey: ['customer', id],
    enabled: id !== '',
    queryFn: ({ signal }) =>
      answerOf(api.GET('/customers/{id}', { params: { path: { id } }, signal })),
  });
  const found = useQuery({
    queryKey: ['customers-named', typed],
    enabled: id === '',
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/customers/search', {
          body: {
            limit: SHOWN,
            ...(typed === ''
              ? {}
              : {
                  filters: [
                    { field: 'name', operator: 'contains' as const, value: { string: typed } },
                  ],
                }),
          },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
  });
  return (
    <div className={styles.field} role="group" aria-labelledby={group}>
      <span id={group} className={styles.label}>
        {label}
      </span>
      {id === '' ? (
        <>
          <SearchFilter label="Search customers by name" value={typed} onChange={setTyped} />
          <ul className={styles.found} aria-label="Customers">
            {(found.data?.items ?? []).map((customer) => (
              <li key={customer.id}>
                <button type="button" onClick={() => field.onChange(customer.id)}>
                  <bdi>{customer.name}</bdi>
                  <code>{customer.external_id}</code>
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <div className={styles.chosen}>
          <bdi>{chosen.data?.name ?? id}</bdi>
          <Button small onPress={() => field.onChange('')}>
            Change
          </Button>
        </div>
      )}
      {fieldState.invalid ? (
        <span className={styles.error}>{fieldState.error?.message}</span>
      ) : null}
    </div>
  );
}
