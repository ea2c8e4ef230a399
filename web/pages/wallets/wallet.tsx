import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { CustomerName } from '../../app/customer-names.tsx';
import { Allowed } from '../../app/person.tsx';
import { unbilledUsage } from '../../app/billing/unbilled-usage.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Card, Page, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { Blocks } from './blocks.tsx';
import { EmptyDay, Forecast, useForecast } from './forecast.tsx';
import { TopUpForm } from './top-up-form.tsx';
import { Transactions } from './transactions.tsx';

type Wallet = ApiRecord<'WalletBalance'>;

const STATE = { tab: 'blocks' };

/** One wallet: its balance, the blocks with credits left, and its transactions. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const query = useQuery({
    queryKey: ['wallet', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/wallets/{id}/balance/real-time', { params: { path: { id } }, signal })),
  });
  const wallet = query.data;
  return (
    <Page
      title={<bdi>{wallet?.name ?? 'Wallet'}</bdi>}
      documentTitle={wallet?.name ?? 'Wallet'}
      crumbs={[{ label: 'Wallets', to: '/wallets' }]}
      description={wallet === undefined ? undefined : <CustomerName id={wallet.customer_id} />}
      actions={
        wallet === undefined || wallet.wallet_status !== 'active' ? undefined : (
          <Allowed to="wallet:write">
            <Button tone="primary" onPress={() => setOpen(true)}>
              Top up
            </Button>
          </Allowed>
        )
      }
    >
      <Loaded query={query} what="the wallet">
        {(data) => (
          <>
            <Content wallet={data} />
            <Dialog title="Top up" isOpen={isOpen} onClose={() => setOpen(false)}>
              <TopUpForm
                wallet={data}
                onDone={async (text) => {
                  setOpen(false);
                  notify(text);
                  await queries.invalidateQueries();
                }}
              />
            </Dialog>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Content({ wallet }: { readonly wallet: Wallet }) {
  const [state, setState] = useUrlState(STATE);
  const forecast = useForecast(wallet);
  const { currency } = wallet;
  return (
    <Stack>
      <Figures>
        <Figure
          label="Balance"
          value={<Money amount={wallet.balance} currency={currency} />}
          note={<Quantity value={wallet.credit_balance} unit="credits" />}
        />
        <Figure
          label="Unbilled usage"
          value={<Money amount={unbilledUsage(wallet)} currency={currency} />}
        />
        <Figure
          label="Open invoices"
          value={<Money amount={wallet.unpaid_invoices_amount} currency={currency} />}
          note="what this wallet may pay of them"
          to="/invoices"
          search={{ customer_id: wallet.customer_id, show: 'open' }}
        />
        <Figure
          label="Projected balance"
          value={<Money amount={wallet.real_time_balance} currency={currency} />}
          note={<Quantity value={wallet.real_time_credit_balance} unit="credits" />}
        />
        <Figure
          label="Runs out"
          value={<EmptyDay forecast={forecast} />}
          note="at the usage of the last four weeks"
          to={`/wallets/${wallet.id}`}
          search={{ tab: 'forecast' }}
        />
      </Figures>
      <Tabs
        label="Parts of the wallet"
        chosen={state.tab}
        onChoose={(tab) => setState({ tab })}
        tabs={[
          { id: 'blocks', label: 'Blocks', content: () => <Blocks wallet={wallet} /> },
          {
            id: 'transactions',
            label: 'Transactions',
            content: () => <Transactions wallet={wallet} />,
          },
          { id: 'forecast', label: 'Forecast', content: () => <Forecast wallet={wallet} /> },
          {
            id: 'details',
            label: 'Details',
            content: () => (
              <Card>
                <Facts
                  of={[
                    ['Id', <Id of={wallet.id} />],
                    ['Customer', <CustomerName key="customer" id={wallet.customer_id} />],
                    ['Status', <Status word={wallet.wallet_status} />],
                    ['Type', formatWord(wallet.wallet_type)],
                    [
                      'Value of one credit',
                      <Money amount={wallet.conversion_rate} currency={currency} />,
                    ],
                    ['Pays for', wallet.config.allowed_price_types.map(formatWord).join(', ') || 'Everything'], // prettier-ignore
                    ['Alert', formatWord(wallet.alert_state)],
                    ['Automatic top-up', automaticTopUp(wallet)],
                    ['Created', <Time at={wallet.created_at} />],
                  ]}
                />
              </Card>
            ),
          },
        ]}
      />
    </Stack>
  );
}

function automaticTopUp({ auto_topup }: Wallet): string {
  if (auto_topup?.enabled !== true) return 'Off';
  const { amount, threshold, cooldown, invoicing } = auto_topup;
  const what = `${amount} credits when ${threshold} or fewer are left`;
  const how = invoicing ? ', with an invoice' : '';
  return `${what}${how}${cooldown === null ? '' : `, at most once in ${cooldown}`}`;
}
