import { useQuery } from '@tanstack/react-query';
import { useCustomerNames } from '../../app/customer-names.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { fractionOf, Money, Quantity } from '../../ui/money.tsx';
import { Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { formatCurrency } from '../../ui/text.ts';
import { useAfterRevenue } from './revenue.tsx';

/** The wallets with the smallest balances; the list has all of them. */
const SHOWN = 5;

const RAISED = {
  field: 'alert_state',
  operator: 'not_in' as const,
  value: { array: ['ok'] },
};
const EMPTY = { field: 'balance', operator: 'lte' as const, value: { number: '0' } };

const columnsOf = (
  names: ReadonlyMap<string, string>,
  fraction: number,
): readonly Column<ApiRecord<'Wallet'>>[] => [
  { header: 'Wallet', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Customer', cell: ({ customer_id }) => <bdi>{names.get(customer_id) ?? '–'}</bdi> },
  { header: 'Alert', wideOnly: true, cell: ({ alert_state }) => <Status word={alert_state} /> },
  {
    header: 'Credits',
    align: 'end',
    wideOnly: true,
    cell: ({ credit_balance }) => <Quantity value={credit_balance} fraction={fraction} />,
  },
  {
    header: 'Balance',
    align: 'end',
    cell: ({ balance, currency }) => <Money amount={balance} currency={currency} />,
  },
];

/** Active wallets whose balance has crossed a threshold of their alerts, and those that are empty. */
export function WalletsAtRisk() {
  const query = useQuery({
    queryKey: ['home-wallets'],
    enabled: useAfterRevenue(),
    queryFn: async ({ signal }) => {
      const search = (filter: typeof RAISED | typeof EMPTY, limit: number) =>
        answerOf(
          api.POST('/wallets/search', {
            body: {
              limit,
              wallet_status: 'active',
              filters: [filter],
              sort: [{ field: 'balance', direction: 'asc' }],
            },
            signal,
          }),
        );
      const [raised, empty, { currencies }] = await Promise.all([
        search(RAISED, SHOWN),
        search(EMPTY, 1),
        answerOf(api.POST('/dashboard/wallets-at-risk', { signal })),
      ]);
      return {
        smallest: raised.items,
        raised: raised.pagination.total,
        empty: empty.pagination.total,
        currencies,
      };
    },
  });
  const smallest = query.data?.smallest ?? [];
  const names = useCustomerNames(smallest.map(({ customer_id }) => customer_id));
  const columns = columnsOf(names, fractionOf(smallest.map((wallet) => wallet.credit_balance)));
  return (
    <Section title="Wallets at risk">
      <Loaded query={query} what="wallets">
        {({ raised, empty, currencies }) => (
          <Stack>
            <Figures>
              {currencies.map(({ currency, balance, wallet_count }) => (
                <Figure
                  key={currency}
                  label={`Balance at risk, ${formatCurrency(currency)}`}
                  value={<Money amount={balance} currency={currency} />}
                  note={wallet_count === 1 ? '1 wallet' : `${wallet_count} wallets`}
                  to="/wallets"
                  search={{ wallet_status: 'active', alert: 'raised', currency }}
                />
              ))}
              <Figure
                label="Alert raised"
                value={<Quantity value={String(raised)} />}
                note="active wallets"
                to="/wallets"
                search={{ wallet_status: 'active', alert: 'raised' }}
              />
              <Figure
                label="Empty"
                value={<Quantity value={String(empty)} />}
                note="active wallets without a balance"
                to="/wallets"
                search={{ wallet_status: 'active', balance: 'empty' }}
              />
            </Figures>
            {smallest.length === 0 ? null : (
              <PlainTable
                label="Wallets with the smallest balances"
                rows={smallest}
                columns={columns}
                rowTo={({ id }) => `/wallets/${id}`}
              />
            )}
          </Stack>
        )}
      </Loaded>
    </Section>
  );
}
