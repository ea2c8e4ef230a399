import { Plus } from 'lucide-react';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { choice, contains, currency, given, linked, text } from '../../app/list/filters.tsx';
import type { FileColumn } from '../../app/list/list-file.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Narrow, type Column } from '../../ui/data-table.tsx';
import { fractionOf, Money, Quantity } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day } from '../../ui/time.tsx';
import { alertStateOf } from './alert-state.ts';

type Wallet = ApiRecord<'Wallet'>;

const FILTERS = [
  text('q', 'Search by name'),
  choice('wallet_status', 'Status', [
    ['active', 'Active'],
    ['frozen', 'Frozen'],
    ['closed', 'Closed'],
  ]),
  choice('wallet_type', 'Type', [
    ['PRE_PAID', 'Prepaid'],
    ['POST_PAID', 'Postpaid'],
  ]),
  choice('alert', 'Alert', [['raised', 'Raised']]),
  choice('balance', 'Balance', [['empty', 'Empty']]),
  currency,
  linked('customer_id'),
];

type Filters = Readonly<Record<(typeof FILTERS)[number]['key'], string>>;

const columnsOf = (
  names: ReadonlyMap<string, string>,
  fraction: number,
): readonly Column<Wallet>[] => [
  {
    header: 'Wallet',
    sort: 'name',
    cell: (wallet) => (
      <>
        <bdi>{wallet.name}</bdi>
        {wallet.wallet_status === 'active' ? null : (
          <Narrow>
            <Status word={wallet.wallet_status} />
          </Narrow>
        )}
        {wallet.alert_state !== 'ok' ? (
          <Narrow>
            <Status word={alertStateOf(wallet)} />
          </Narrow>
        ) : null}
      </>
    ),
  },
  { header: 'Customer', cell: ({ customer_id }) => <bdi>{names.get(customer_id) ?? '–'}</bdi> },
  { header: 'Type', wideOnly: true, cell: ({ wallet_type }) => formatWord(wallet_type) },
  {
    header: 'Status',
    wideOnly: true,
    cell: ({ wallet_status }) => <Status word={wallet_status} />,
  },
  { header: 'Alert', wideOnly: true, cell: (wallet) => <Status word={alertStateOf(wallet)} /> },
  {
    header: 'Created',
    sort: 'created_at',
    wideOnly: true,
    cell: (row) => <Day at={row.created_at} />,
  },
  {
    header: 'Credits',
    sort: 'credit_balance',
    align: 'end',
    wideOnly: true,
    cell: ({ credit_balance }) => <Quantity value={credit_balance} fraction={fraction} />,
  },
  {
    header: 'Balance',
    sort: 'balance',
    align: 'end',
    cell: ({ balance, currency }) => <Money amount={balance} currency={currency} />,
  },
];

const FILE: readonly FileColumn<Wallet>[] = [
  ['wallet', ({ name }) => name],
  ['customer_id', (row) => row.customer_id],
  ['type', (row) => row.wallet_type],
  ['status', (row) => row.wallet_status],
  ['alert', (row) => row.alert_state],
  ['created', (row) => row.created_at],
  ['credits', (row) => row.credit_balance],
  ['currency', ({ currency }) => currency],
  ['balance', ({ balance }) => balance],
  ['id', ({ id }) => id],
];

function useColumns(rows: readonly Wallet[]): readonly Column<Wallet>[] {
  const names = useCustomerNames(rows.map(({ customer_id }) => customer_id));
  return columnsOf(names, fractionOf(rows.map(({ credit_balance }) => credit_balance)));
}

const WALLETS = listOf({
  name: 'wallets',
  title: 'Wallets',
  filters: FILTERS,
  search: (paging, filters: Filters, signal) =>
    answerOf(api.POST('/wallets/search', { body: { ...paging, ...bodyOf(filters) }, signal })),
  columns: useColumns,
  file: FILE,
  rowTo: ({ id }) => `/wallets/${id}`,
  unmatched: { title: 'No wallet matches' },
});

/** Every wallet with its balance. */
export function View() {
  const create = (
    <Allowed to="wallet:write">
      <ButtonLink to="/wallets/new" tone="primary" icon={<Plus size={14} aria-hidden />}>
        New wallet
      </ButtonLink>
    </Allowed>
  );
  return (
    <ListPage
      list={WALLETS}
      actions={create}
      empty={
        <EmptyState title="No wallets yet" action={create}>
          A wallet holds prepaid credits of a customer. Invoices are paid from it first, from the
          credits that expire soonest.
        </EmptyState>
      }
    />
  );
}

const bodyOf = ({ q, alert, balance, wallet_status, wallet_type, ...texts }: Filters) => ({
  ...given({
    ...texts,
    wallet_status: wallet_status as Wallet['wallet_status'] | '',
    wallet_type: wallet_type as Wallet['wallet_type'] | '',
  }),
  filters: [
    ...contains('name', q),
    ...(alert === ''
      ? []
      : [{ field: 'alert_state', operator: 'not_in' as const, value: { array: ['ok'] } }]),
    ...(balance === ''
      ? []
      : [{ field: 'balance', operator: 'lte' as const, value: { number: '0' } }]),
  ],
});
