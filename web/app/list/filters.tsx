import {
  ChoiceFilter,
  ClearFilters,
  CurrencyFilter,
  DayFilter,
  FilterBar,
  FilterPair,
  SearchFilter,
} from '../../ui/filter-bar.tsx';
import type { ListState } from '../../ui/list-state.ts';

type Choices = readonly (readonly [string, string])[];

/** A filter of a list: its key in the address, and the control that sets it. */
export interface ListFilter<Key extends string> {
  readonly key: Key;
  /** Null: a link sets the filter, no control does. */
  readonly kind: 'text' | 'choice' | 'day' | 'currency' | null;
  readonly label: string;
  readonly choices: Choices;
  /** The value without a choice; another than the empty one is not left out of the request. */
  readonly initial: string;
  /** False: a list without rows has none by this filter alone. */
  readonly narrows: boolean;
}

const filter = <Key extends string>(
  key: Key,
  kind: ListFilter<Key>['kind'],
  label: string,
  choices: Choices = [],
): ListFilter<Key> => ({ key, kind, label, choices, initial: '', narrows: true });

/** Free text; the first one of a page takes the key `/`. */
export const text = <Key extends string>(key: Key, label: string) => filter(key, 'text', label);

/** One of a few values (value and text of each), or all of them. */
export const choice = <Key extends string>(key: Key, label: string, choices: Choices) =>
  filter(key, 'choice', label, choices);

/** One of a few values, at first the first one: a kind of records, or how another filter is meant. */
export const kind = <Key extends string>(key: Key, label: string, choices: Choices) => ({
  ...choice(key, label, choices),
  initial: choices[0]![0],
  narrows: false,
});

export const day = <Key extends string>(key: Key, label: string) => filter(key, 'day', label);

/** Shown while a link has limited the list to one currency. */
export const currency = filter('currency', 'currency', 'Currency');

/** A filter that links set, for example the customer of an invoice. */
export const linked = <Key extends string>(key: Key) => filter(key, null, '');

/** The filters without the empty ones, as fields of a request. */
export const given = <Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): Partial<{ [Name in keyof Fields]: Exclude<Fields[Name], ''> }> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')) as never;

/** A filter of the API: the field contains the text. Without a text, none. */
export const contains = (field: string, part: string) =>
  part === '' ? [] : [{ field, operator: 'contains' as const, value: { string: part } }];

/** The bar of the filters, in their order. */
export function Filters<Key extends string>({
  of: filters,
  state,
  isFiltered,
}: {
  readonly of: readonly ListFilter<Key>[];
  readonly state: ListState<Key>;
  readonly isFiltered: boolean;
}) {
  const shown = filters.filter(
    ({ kind: control, key }) =>
      control !== null && (control !== 'currency' || state.filters[key] !== ''),
  );
  if (shown.length === 0) return null;
  const clear = () => state.setFilters(unset(filters));
  return (
    <FilterBar>
      {pairsOf(shown).map((group) => {
        const controls = group.map((one) => (
          <Control
            key={one.key}
            of={one}
            value={state.filters[one.key]}
            onChange={(value) =>
              state.setFilters({ [one.key]: value } as Partial<Record<Key, string>>)
            }
          />
        ));
        return group.length === 1 ? (
          controls
        ) : (
          <FilterPair key={group[0]!.key} zone="UTC">
            {controls}
          </FilterPair>
        );
      })}
      {isFiltered ? <ClearFilters onPress={clear} /> : null}
    </FilterBar>
  );
}

/** Two days that follow each other are the first and the last of a range; every other filter is alone. */
function pairsOf<One extends Pick<ListFilter<string>, 'kind'>>(filters: readonly One[]): One[][] {
  const groups: One[][] = [];
  for (const one of filters) {
    const last = groups.at(-1);
    if (one.kind === 'day' && last?.length === 1 && last[0]!.kind === 'day') last.push(one);
    else groups.push([one]);
  }
  return groups;
}

/** Every filter with its value at first. */
export const unset = <Key extends string>(
  filters: readonly ListFilter<Key>[],
): Readonly<Record<Key, string>> =>
  Object.fromEntries(filters.map(({ key, initial }) => [key, initial])) as Record<Key, string>;

function Control<Key extends string>({
  of: { kind: control, label, choices, initial },
  value,
  onChange,
}: {
  readonly of: ListFilter<Key>;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const field = { label, value, onChange };
  if (control === 'text') return <SearchFilter {...field} />;
  if (control === 'day') return <DayFilter {...field} />;
  if (control === 'currency') return <CurrencyFilter value={value} onChange={onChange} />;
  return <ChoiceFilter {...field} choices={choices} unset={initial === '' ? 'All' : null} />;
}
