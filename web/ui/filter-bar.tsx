import { Children, isValidElement, useEffect, useId, useState, type ReactNode } from 'react';
import { ListFilter, Search, X } from 'lucide-react';
import { Button } from './button.tsx';
import { formatCurrency } from './text.ts';
import styles from './filter-bar.module.css';

/** A bar with at most this many filters is not folded on a phone. */
const FEW = 2;

/**
 * Filters above a list. Their values live in the address (`useListState`). On a phone many filters are folded behind
 * the first one, until one of them is set.
 */
export function FilterBar({ children }: { readonly children: ReactNode }) {
  const id = useId();
  const [chosen, setChosen] = useState<boolean | null>(null);
  const filters = Children.toArray(children);
  const isSet = filters.some((child) => isValidElement(child) && child.type === ClearFilters);
  const isOpen = chosen ?? isSet;
  if (filters.length <= FEW)
    return (
      <div className={styles.bar} role="search">
        {children}
      </div>
    );
  return (
    <div className={styles.bar} role="search" id={id} data-folded={!isOpen}>
      {filters[0]}
      <button
        type="button"
        className={styles.fold}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setChosen(!isOpen)}
      >
        <ListFilter size={14} aria-hidden />
        {isOpen ? 'Fewer filters' : 'More filters'}
      </button>
      {filters.slice(1)}
    </div>
  );
}

/** A search is sent this long after the last key, so that typing a word is one request. */
const TYPING_MS = 250;

/** Free text. The key `/` puts the cursor here. */
export function SearchFilter({
  label,
  value,
  onChange,
  autoFocus = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly autoFocus?: boolean;
}) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onChange]);
  return (
    <label className={styles.search}>
      <Search size={14} aria-hidden />
      <span className="visually-hidden">{label}</span>
      <input
        type="search"
        placeholder={label}
        value={typed}
        data-shortcut="search"
        autoFocus={autoFocus}
        onChange={(event) => setTyped(event.target.value)}
      />
    </label>
  );
}

/** One of a few values, or all of them. */
export function ChoiceFilter({
  label,
  value,
  choices,
  unset = 'All',
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  /** Value and text of each choice. */
  readonly choices: readonly (readonly [string, string])[];
  /** Text of the choice for the empty value; null: one of the choices is always chosen. */
  readonly unset?: string | null;
  readonly onChange: (value: string) => void;
}) {
  return (
    <label className={styles.choice}>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        {unset === null ? null : <option value="">{unset}</option>}
        {choices.map(([choice, text]) => (
          <option key={choice} value={choice}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The browser reports the years 2, 20 and 202 while somebody types 2026. */
const FIRST_DAY = '1000-01-01';

/** A day as `YYYY-MM-DD`. Reports a day only when its year has four digits. */
export function DayFilter({
  label,
  value,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  // The address changes later than the field, which would lose what was typed.
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <label className={styles.choice}>
      <span>{label}</span>
      <input
        type="date"
        value={typed}
        onChange={({ target: { value: day } }) => {
          setTyped(day);
          if (day === '' || day >= FIRST_DAY) onChange(day);
        }}
      />
    </label>
  );
}

/** Two filters that are read together, from and until: they stay on one line where there is room. */
export function FilterPair({
  zone,
  children,
}: {
  /** The zone of the days, where no other control names it. */
  readonly zone?: string;
  readonly children: ReactNode;
}) {
  return (
    <div className={styles.pair}>
      {children}
      {zone === undefined ? null : <span className={styles.zone}>{zone}</span>}
    </div>
  );
}

/** Shown while a link has limited the list to one currency. */
export function CurrencyFilter({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  if (value === '') return null;
  return (
    <ChoiceFilter
      label="Currency"
      value={value}
      choices={[[value, formatCurrency(value)]]}
      onChange={onChange}
    />
  );
}

export function ClearFilters({ onPress }: { readonly onPress: () => void }) {
  return (
    <Button small tone="quiet" icon={<X size={14} aria-hidden />} onPress={onPress}>
      Clear filters
    </Button>
  );
}
