import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { CustomerName } from '../../app/customer-names.tsx';
import { unbilledUsage } from '../../app/billing/unbilled-usage.ts';
import type { ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Id } from '../../ui/code-block.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Card, Page, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { alertStateOf } from './alert-state.ts';
import { Blocks } from './blocks.tsx';
import { EmptyDay, Forecast, useForecast } from './forecast.tsx';
import { Transactions } from './transactions.tsx';
import { WalletActions } from './wallet-actions.tsx';
import { walletQuery } from './wallet-query.ts';

type Wallet = ApiRecord<'WalletBalance'>;

const STATE = { tab: 'blocks' };

/** One wallet: its balance, the blocks with credits left, and its transactions. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(walletQuery(id));
  const wallet = query.data;
  return (
    <Page
      title={<bdi>{wallet?.name ?? 'Wallet'}</bdi>}
      documentTitle={wallet?.name ?? 'Wallet'}
      crumbs={[{ label: 'Wallets', to: '/wallets' }]}
      description={wallet === undefined ? undefined : <CustomerName id={wallet.customer_id} />}
      actions={wallet === undefined ? undefined : <WalletActions wallet={wallet} />}
    >
      <Loaded query={query} what="the wallet">
        {(data) => <Content wallet={data} />}
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
          to={`/wallets/${wallet.id}`}
          search={{ tab: 'transactions' }}
        />
        <Figure
          label="Unbilled usage"
          value={<Money amount={unbilledUsage(wallet)} currency={currency} />}
          note="of the running periods"
          to={`/customers/${wallet.customer_id}`}
          search={{ tab: 'usage' }}
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
                    ['Alert state', <Status word={alertStateOf(wallet)} />],
                    ['Automatic top-up', automaticTopUp(wallet)],
                    ['Alerts', alertLevels(wallet)],
                    ['Description', <bdi>{wallet.description || '–'}</bdi>],
                    ['Metadata', <bdi>{Object.entries(wallet.metadata).map(([k, v]) => `${k}: ${v}`).join(', ') || '–'}</bdi>], // prettier-ignore
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

function alertLevels({ alert_settings: settings }: Wallet): string {
  if (settings === null) return 'As the settings say for all wallets';
  if (!settings.alert_enabled) return 'Off';
  const { critical, warning, info } = settings;
  const unit = settings.alert_threshold_type === 'percentage' ? '%' : ' credits';
  return [['Critical', critical] as const, ['warning', warning] as const, ['notice', info] as const]
    .flatMap(([name, level]) => (level === null ? [] : [`${name} at ${level.threshold}${unit}`]))
    .join(', ');
}
