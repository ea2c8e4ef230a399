import { useUrlState } from './url-state.ts';

export const PAGE_ROWS = 50;

/** Page, order and filters of a list, kept in the address. */
export interface ListState<Filters extends string> {
  /** For the request: `{ limit, offset }`, and `sort` when an order is chosen. */
  readonly paging: {
    readonly limit: number;
    readonly offset: number;
    readonly sort?: { readonly field: string; readonly direction: 'asc' | 'desc' }[];
  };
  readonly filters: Readonly<Record<Filters, string>>;
  readonly isFiltered: boolean;
  readonly sort: { readonly field: string; readonly direction: 'asc' | 'desc' } | null;
  /** Changes filters and goes back to the first page. */
  setFilters(change: Partial<Record<Filters, string>>): void;
  setOffset(offset: number): void;
  setSort(field: string): void;
}

/**
 * `const list = useListState({ q: '', status: '' })`: the keys are the filters of the page with their values
 * when unset. Pass it to `DataTable` and `FilterBar`, and `list.paging` with `list.filters` to the request.
 */
export function useListState<Filters extends string>(
  filters: Readonly<Record<Filters, string>>,
): ListState<Filters> {
  const [state, setState] = useUrlState<string>({ ...filters, page: '1', sort: '' });
  const page = Math.max(1, Math.trunc(Number(state['page'])) || 1);
  const term = state['sort'] ?? '';
  const sort =
    term === ''
      ? null
      : ({
          field: term.replace(/^-/, ''),
          direction: term.startsWith('-') ? 'desc' : 'asc',
        } as const);
  const chosen = Object.fromEntries(
    Object.keys(filters).map((key) => [key, state[key] ?? '']),
  ) as Record<Filters, string>;
  return {
    paging: {
      limit: PAGE_ROWS,
      offset: (page - 1) * PAGE_ROWS,
      ...(sort === null ? {} : { sort: [sort] }),
    },
    filters: chosen,
    isFiltered: Object.values(chosen).some((value) => value !== ''),
    sort,
    setFilters: (change) => setState({ ...change, page: '1' }),
    setOffset: (offset) => setState({ page: String(Math.floor(offset / PAGE_ROWS) + 1) }),
    setSort: (field) => setState({ sort: term === `-${field}` ? field : `-${field}`, page: '1' }),
  };
}

/**
 * Filters of the API for a time between two UTC days, both included: `daysOf('finalized_at', from, to)`. An
 * empty day is not a bound.
 */
export const daysOf = (field: string, from: string, to: string) => [
  ...(from === ''
    ? []
    : [{ field, operator: 'gte' as const, value: { date: `${from}T00:00:00.000Z` } }]),
  ...(to === ''
    ? []
    : [{ field, operator: 'lte' as const, value: { date: `${to}T23:59:59.999Z` } }]),
];
