import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ArrowDown, ArrowUp } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import type { ListState } from './list-state.ts';
import { Awaiting, Failure } from './query-state.tsx';
import styles from './data-table.module.css';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** `end` for numbers and money. */
  readonly align?: 'start' | 'end';
  /** Field of the API by which the list can be ordered. */
  readonly sort?: string;
  /** Left out on a phone. */
  readonly wideOnly?: boolean;
  /** May take more room than other columns: many words, of which a reader wants as many as possible. */
  readonly isRoomy?: boolean;
  /** Kept on one line: an id with hyphens. */
  readonly isWhole?: boolean;
}

/** One page of a list, as every list route of the API answers it. */
export interface ListPage<Row> {
  readonly items: readonly Row[];
  readonly pagination: { readonly total: number; readonly limit: number; readonly offset: number };
}

/**
 * A list with server paging, order and links. The first column links to `rowTo(row)`, and the whole row is
 * its target. While another page loads, the present one stays.
 */
export function DataTable<Row extends { readonly id: string }>({
  label,
  columns,
  query,
  list,
  rowTo,
  empty,
}: {
  /** Accessible name, plural: "Customers". */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly query: UseQueryResult<ListPage<Row>>;
  /** Without it the table has neither pages nor orders. */
  readonly list?: Pick<ListState<never>, 'paging' | 'setOffset' | 'setSort' | 'sort'>;
  readonly rowTo?: (row: Row) => string;
  /** Shown instead of the table when there are no rows. */
  readonly empty: ReactNode;
}) {
  if (query.isPending) return <Awaiting what={label.toLowerCase()} />;
  if (query.isError) return <Failure error={query.error} retry={query.refetch} />;
  const { items, pagination } = query.data;
  if (items.length === 0) return <>{empty}</>;
  return (
    <div className={classNames(styles.frame, query.isPlaceholderData && styles.old)}>
      <Rows
        label={label}
        columns={columns}
        rows={items}
        {...(list ? { list } : {})}
        {...(rowTo ? { rowTo } : {})}
      />
      {list === undefined ? null : (
        <Pager {...list.paging} total={pagination.total} setOffset={list.setOffset} />
      )}
    </div>
  );
}

/** Rows that are at hand already. */
export function PlainTable<Row extends { readonly id: string }>(props: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowTo?: (row: Row) => string;
}) {
  return (
    <div className={styles.frame}>
      <Rows {...props} />
    </div>
  );
}

function Rows<Row extends { readonly id: string }>({
  label,
  columns,
  rows,
  list,
  rowTo,
}: {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly list?: Pick<ListState<never>, 'setSort' | 'sort'>;
  readonly rowTo?: (row: Row) => string;
}) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={label}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.header}
                scope="col"
                className={cellClass(column)}
                {...(list?.sort != null && list.sort.field === column.sort
                  ? { 'aria-sort': list.sort.direction === 'asc' ? 'ascending' : 'descending' }
                  : {})}
              >
                <Heading column={column} {...(list ? { list } : {})} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id} className={rowTo === undefined ? undefined : styles.linked}>
              {columns.map((column, index) => (
                <td key={column.header} className={cellClass(column)}>
                  {index === 0 && rowTo !== undefined ? (
                    <Link to={rowTo(row)} className={styles.link}>
                      {column.cell(row)}
                    </Link>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Below the first words of a cell, on a phone only: what a column that is left out there says. */
export function Narrow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.narrow}>{children}</div>;
}

const cellClass = <Row,>({ align, wideOnly, isWhole, isRoomy }: Column<Row>): string =>
  classNames(
    align === 'end' && styles.end,
    wideOnly && styles.wide,
    isWhole && styles.whole,
    isRoomy && styles.roomy,
  );

function Heading<Row>({
  column: { header, sort },
  list,
}: {
  readonly column: Column<Row>;
  readonly list?: Pick<ListState<never>, 'setSort' | 'sort'>;
}) {
  if (sort === undefined || list === undefined) return <>{header}</>;
  const chosen = list.sort?.field === sort ? list.sort.direction : null;
  return (
    <button type="button" className={styles.sort} onClick={() => list.setSort(sort)}>
      {header}
      {chosen === 'asc' ? <ArrowUp size={12} aria-hidden /> : null}
      {chosen === 'desc' ? <ArrowDown size={12} aria-hidden /> : null}
    </button>
  );
}

function Pager({
  total,
  limit,
  offset,
  setOffset,
}: {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
  readonly setOffset: (offset: number) => void;
}) {
  const last = Math.min(offset + limit, total);
  return (
    <div className={styles.pager}>
      <span>
        {(offset + 1).toLocaleString('en-US')}–{last.toLocaleString('en-US')} of{' '}
        {total.toLocaleString('en-US')}
      </span>
      {total <= limit ? null : (
        <span className={styles.pages}>
          <Button
            small
            isDisabled={offset === 0}
            onPress={() => setOffset(Math.max(0, offset - limit))}
          >
            Previous
          </Button>
          <Button small isDisabled={last >= total} onPress={() => setOffset(offset + limit)}>
            Next
          </Button>
        </span>
      )}
    </div>
  );
}
