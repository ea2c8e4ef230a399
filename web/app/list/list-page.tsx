import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { DataTable, type Column, type ListPage as Rows } from '../../ui/data-table.tsx';
import { useListState, type ListState } from '../../ui/list-state.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Filters, unset, type ListFilter } from './filters.tsx';
import { ListFile, type FileColumn } from './list-file.tsx';

/** What a list shows, and how it is asked for. */
export interface ListOf<Row extends { readonly id: string }, Key extends string> {
  /** Of its files, and the first part of the key of its queries: `invoices`. */
  readonly name: string;
  readonly title: string;
  /** Accessible name of the table, if it is not the title. */
  readonly label?: string;
  readonly description?: string;
  readonly filters: readonly ListFilter<Key>[];
  /** One page of the rows that match. */
  readonly search: (
    paging: ListState<never>['paging'],
    filters: Readonly<Record<Key, string>>,
    signal: AbortSignal,
  ) => Promise<Rows<Row>>;
  /** As a function it is a hook that gets the rows of the page, for example to ask for names. */
  readonly columns: readonly Column<Row>[] | ((rows: readonly Row[]) => readonly Column<Row>[]);
  /** Amounts with all of their digits, times as instants. */
  readonly file: readonly FileColumn<Row>[];
  readonly rowTo?: (row: Row) => string;
  /** Shown when the filters leave no row. */
  readonly unmatched: { readonly title: string; readonly advice?: ReactNode };
}

/**
 * A list as a page: the filters and the page are in the address, the rows come page by page, and the whole list is
 * saved as it is filtered.
 */
export function ListPage<Row extends { readonly id: string }, Key extends string>({
  list,
  actions,
  empty,
  children,
}: {
  readonly list: ListOf<Row, Key>;
  /** Beside the files: the button of a new record. */
  readonly actions?: ReactNode;
  /** Shown when there is no row at all. */
  readonly empty: ReactNode;
  /** Below the table: dialogs. */
  readonly children?: ReactNode;
}) {
  const { name, title, filters, search, columns } = list;
  const state = useListState(unset(filters));
  const query = useQuery({
    queryKey: [name, state.paging, state.filters],
    queryFn: ({ signal }) => search(state.paging, state.filters, signal),
    placeholderData: keepPreviousData,
  });
  const shown = typeof columns === 'function' ? columns(query.data?.items ?? []) : columns;
  const isFiltered = filters.some(({ key, narrows }) => narrows && state.filters[key] !== '');
  const { advice = 'Choose other filters, or clear them.' } = list.unmatched;
  return (
    <Page
      title={title}
      description={list.description}
      actions={
        <>
          <ListFile
            name={name}
            columns={list.file}
            page={(paging, signal) => search({ ...state.paging, ...paging }, state.filters, signal)}
          />
          {actions}
        </>
      }
    >
      <Filters of={filters} state={state} isFiltered={isFiltered} />
      <DataTable
        label={list.label ?? title}
        query={query}
        list={state}
        columns={shown}
        {...(list.rowTo ? { rowTo: list.rowTo } : {})}
        empty={isFiltered ? <EmptyState title={list.unmatched.title}>{advice}</EmptyState> : empty}
      />
      {children}
    </Page>
  );
}

/** A list with the types of its rows and filters, for `ListPage`. */
export const listOf = <Row extends { readonly id: string }, const Key extends string>(
  list: ListOf<Row, Key>,
): ListOf<Row, Key> => list;
