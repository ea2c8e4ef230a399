import { useQuery } from '@tanstack/react-query';
import { Status } from '../ui/badge.tsx';
import { PlainTable } from '../ui/data-table.tsx';
import { fractionOf, Money, Quantity } from '../ui/money.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, Loaded } from '../ui/query-state.tsx';
import { usePageLabel, usePortal } from './portal.ts';
import { walletsQuery } from './queries.ts';

/** The customer's wallets with their balances. */
export function View() {
  const { seller } = usePortal();
  const query = useQuery(walletsQuery());
  const fraction = fractionOf(query.data?.map(({ credit_balance }) => credit_balance) ?? []);
  return (
    <Page
      title={usePageLabel('credits')}
      description="Prepaid and promotional credits. They pay for usage first."
    >
      <Loaded query={query} what="your wallets">
        {(wallets) =>
          wallets.length === 0 ? (
            <EmptyState title="No wallet">
              With a wallet you pay usage in advance. {seller.name} opens one for you.
            </EmptyState>
          ) : (
            <PlainTable
              label="Wallets"
              rows={wallets}
              rowTo={({ id }) => `/wallets/${id}`}
              columns={[
                {
                  header: 'Wallet',
                  cell: ({ name }) => <bdi>{name === '' ? 'Wallet' : name}</bdi>,
                },
                { header: 'Status', wideOnly: true, cell: ({ wallet_status }) => <Status word={wallet_status} /> }, // prettier-ignore
                { header: 'Credits', align: 'end', cell: ({ credit_balance }) => <Quantity value={credit_balance} fraction={fraction} /> }, // prettier-ignore
                { header: 'Balance', align: 'end', cell: ({ balance, currency }) => <Money amount={balance} currency={currency} /> }, // prettier-ignore
              ]}
            />
          )
        }
      </Loaded>
    </Page>
  );
}
