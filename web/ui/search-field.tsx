import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId, useState, type ReactNode } from 'react';
import { useController, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import { Button } from './button.tsx';
import { SearchFilter } from './filter-bar.tsx';
import styles from './search-field.module.css';

/** A record that can be chosen. */
export interface Found {
  readonly id: string;
  readonly name: string;
  /** Tells records of the same name apart. */
  readonly detail: string;
}

/** Chooses one record of any number: a search by name, then one of the first matches. */
export function SearchField<Fields extends FieldValues, Item extends Found>({
  control,
  name,
  label,
  noun,
  search,
  find,
  none,
  onChoose,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label: string;
  /** Plural, in lower case; also the name of the queries. */
  readonly noun: string;
  /** The first records whose name contains the text; all records for an empty text. */
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly Item[]>;
  /** The record of the id, for a form that begins with one. */
  readonly find: (id: string, signal: AbortSignal) => Promise<Found>;
  /** Shown if there is no record at all. */
  readonly none?: ReactNode;
  readonly onChoose?: (item: Item) => void;
}) {
  const { field, fieldState } = useController({ control, name });
  const [typed, setTyped] = useState('');
  const [isChanged, setChanged] = useState(false);
  const group = useId();
  const id = String(field.value ?? '');
  const chosen = useQuery({
    queryKey: ['found', noun, id],
    enabled: id !== '',
    queryFn: ({ signal }) => find(id, signal),
  });
  const found = useQuery({
    queryKey: ['search', noun, typed],
    enabled: id === '',
    queryFn: ({ signal }) => search(typed, signal),
    placeholderData: keepPreviousData,
  });
  // The pressed element disappears with a choice, so the focus moves to the element that replaces it.
  const change = (value: string): void => {
    setChanged(true);
    field.onChange(value);
  };
  return (
    <div className={styles.field} role="group" aria-labelledby={group}>
      <span id={group} className={styles.label}>
        {label}
      </span>
      {id === '' ? (
        <>
          <SearchFilter
            label={`Search ${noun} by name`}
            value={typed}
            onChange={setTyped}
            autoFocus={isChanged}
          />
          {found.data?.length === 0 ? (
            <p className={styles.none}>{(typed === '' ? none : null) ?? `No ${noun} found.`}</p>
          ) : (
            <ul className={styles.found} aria-label={label}>
              {(found.data ?? []).map((item) => (
                <li key={item.id}>
                  <button
                    type="button"
                    onClick={() => {
                      onChoose?.(item);
                      change(item.id);
                    }}
                  >
                    <bdi>{item.name}</bdi>
                    <span className={styles.detail}>{item.detail}</span>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </>
      ) : (
        <div className={styles.chosen}>
          <bdi>{chosen.data?.name ?? id}</bdi>
          <Button
            small
            aria-label={`Change ${label.toLowerCase()}`}
            autoFocus={isChanged}
            onPress={() => change('')}
          >
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
