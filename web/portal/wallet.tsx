import { useQuery, useQueryClient } from '@tanstack/react-query';
import { isEqual } from '../app/billing/amounts.ts';
import { unbilledUsage } from '../app/billing/unbilled-usage.ts';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Facts } from '../ui/facts.tsx';
import { Figure, Figures } from '../ui/figure.tsx';
import { Money, Quantity } from '../ui/money.tsx';
import { Card, Page, Section, Stack } from '../ui/page.tsx';
import { Loaded } from '../ui/query-state.tsx';
import { formatWord } from '../ui/text.ts';
import { notify } from '../ui/toasts.tsx';
import { AutoTopUpForm } from './auto-top-up-form.tsx';
import { usePageLabel } from './portal.ts';
import { walletQuery, type Wallet } from './queries.ts';
import { TopUp } from './top-up.tsx';
import { Transactions } from './transactions.tsx';

/** One wallet: its balance, its transactions, and how it is topped up. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(walletQuery(id));
  const [open, setOpen] = useState<'top-up' | 'automatic' | null>(null);
  const queries = useQueryClient();
  const done = async (text: string): Promise<void> => {
    setOpen(null);
    notify(text);
    await queries.invalidateQueries();
  };
  const name = query.data?.name || 'Wallet';
  return (
    <Page
      title={<bdi>{name}</bdi>}
      documentTitle={name}
      crumbs={[{ label: usePageLabel('credits') ?? '', to: '/wallets' }]}
      actions={
        query.data?.wallet_status !== 'active' ? undefined : (
          <Button tone="primary" onPress={() => setOpen('top-up')}>
            Top up
          </Button>
        )
      }
    >
      <Loaded query={query} what="the wallet">
        {(wallet) => (
          <>
            <Content wallet={wallet} onAutomatic={() => setOpen('automatic')} />
            <Dialog title="Top up" isOpen={open === 'top-up'} onClose={() => setOpen(null)}>
              <TopUp wallet={wallet} onDone={() => done('Credits bought')} />
            </Dialog>
            <Dialog
              title="Automatic top-up"
              isOpen={open === 'automatic'}
              onClose={() => setOpen(null)}
            >
              <AutoTopUpForm wallet={wallet} onDone={() => done('Automatic top-up saved')} />
            </Dialog>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Content({
  wallet,
  onAutomatic,
}: {
  readonly wallet: Wallet;
  readonly onAutomatic: () => void;
}) {
  const { currency, auto_topup, config } = wallet;
  const hasInvoices = usePageLabel('invoices') !== null;
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
          {...(hasInvoices ? { to: '/invoices' } : {})}
        />
        <Figure
          label="Projected balance"
          value={<Money amount={wallet.real_time_balance} currency={currency} />}
          note={<Quantity value={wallet.real_time_credit_balance} unit="credits" />}
        />
      </Figures>
      <Section
        title="Details"
        actions={
          wallet.wallet_status === 'active' ? (
            <Button small onPress={onAutomatic}>
              Change automatic top-up
            </Button>
          ) : undefined
        }
      >
        <Card>
          <Facts
            of={[
              [
                'Automatic top-up',
                auto_topup?.enabled === true
                  ? `${auto_topup.amount} credits when ${auto_topup.threshold} or fewer are left`
                  : 'Off',
              ],
              [
                'Value of one credit',
                <Money key="value" amount={wallet.conversion_rate} currency={currency} />,
              ],
              ...(isEqual(wallet.conversion_rate, wallet.topup_conversion_rate)
                ? []
                : [
                    [
                      'Price of one credit in a top-up',
                      <Money
                        key="price"
                        amount={wallet.topup_conversion_rate}
                        currency={currency}
                      />,
                    ] as const,
                  ]),
              ['Pays for', config.allowed_price_types.map(formatWord).join(', ') || 'Everything'],
            ]}
          />
        </Card>
      </Section>
      <Section title="Transactions">
        <Transactions walletId={wallet.id} />
      </Section>
    </Stack>
  );
}
