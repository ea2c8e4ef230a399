import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Search parameters of a router are plain text in addresses, without JSON. */
export const PLAIN_SEARCH = {
  parseSearch: (text: string): Record<string, string> =>
    Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search: object): string => {
    const text = new URLSearchParams(search as Record<string, string>).toString();
    return text === '' ? '' : `?${text}`;
  },
};

export type UrlState = Readonly<Record<string, string>>;

/**
 * The state of a page that a link carries: tab, filters, range. Values are text; an empty one is left out of
 * the address. `defaults` names every key of the page.
 *
 * A change replaces the address; a `step` is a new entry of the history, from which Back returns.
 *
 *     const [state, setState] = useUrlState({ tab: 'overview', from: '' });
 */
export function useUrlState<Keys extends string>(
  defaults: Readonly<Record<Keys, string>>,
): readonly [
  Readonly<Record<Keys, string>>,
  (change: Partial<Record<Keys, string>>, kind?: 'step') => void,
] {
  const search: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const state = Object.fromEntries(
    Object.entries(defaults).map(([key, value]) => [key, textOf(search[key]) ?? value]),
  ) as Record<Keys, string>;
  const setState = useCallback(
    (change: Partial<Record<Keys, string>>, kind?: 'step') =>
      void navigate({
        to: '.',
        search: ((before: UrlState) => merged(before, change, defaults)) as never,
        replace: kind !== 'step',
        resetScroll: false,
      }),
    [navigate, defaults],
  );
  return [state, setState];
}

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null ? undefined : String(value);

function merged(before: UrlState, change: Partial<UrlState>, defaults: UrlState): UrlState {
  const all = { ...before, ...change };
  return Object.fromEntries(
    Object.entries(all).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && entry[1] !== '' && entry[1] !== defaults[entry[0]],
    ),
  );
}
