import { useQueryClient } from '@tanstack/react-query';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Menu } from '../../ui/menu.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { notify } from '../../ui/toasts.tsx';
import { ConvertWallet } from './convert-wallet.tsx';
import { DebitForm } from './debit-form.tsx';
import { TopUpForm } from './top-up-form.tsx';

/** What is done with a wallet. A closed one moves no credits any more. */
export function WalletActions({ wallet }: { readonly wallet: ApiRecord<'WalletBalance'> }) {
  const [open, setOpen] = useState<'top-up' | 'debit' | 'convert' | 'terminate' | null>(null);
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const done = async (text: string): Promise<void> => {
    close();
    notify(text);
    await queries.invalidateQueries();
  };
  const { id, wallet_status: status } = wallet;
  return (
    <Allowed to="wallet:write">
      <ButtonLink to={`/wallets/${id}/edit`}>Edit</ButtonLink>
      {status === 'active' ? (
        <Button tone="primary" onPress={() => setOpen('top-up')}>
          Top up
        </Button>
      ) : null}
      {status === 'closed' ? null : (
        <Menu
          label="More actions"
          button={<Ellipsis size={16} aria-hidden />}
          actions={[
            ...(status === 'active'
              ? [{ id: 'debit', label: 'Debit credits', onChoose: () => setOpen('debit') }]
              : []),
            ...(status === 'active' && wallet.wallet_type === 'PRE_PAID'
              ? [
                  {
                    id: 'convert',
                    label: 'Convert to post-paid',
                    onChoose: () => setOpen('convert'),
                  },
                ]
              : []),
            {
              id: 'terminate',
              label: 'Terminate wallet',
              isDanger: true,
              onChoose: () => setOpen('terminate'),
            },
          ]}
        />
      )}
      <Dialog title="Top up" isOpen={open === 'top-up'} onClose={close}>
        <TopUpForm wallet={wallet} onDone={done} />
      </Dialog>
      <Dialog title="Debit credits" isOpen={open === 'debit'} onClose={close}>
        <DebitForm wallet={wallet} onDone={done} />
      </Dialog>
      <ConvertWallet wallet={wallet} isOpen={open === 'convert'} onClose={close} />
      <ConfirmDialog
        title="Terminate this wallet?"
        confirm="Terminate wallet"
        tone="danger"
        isOpen={open === 'terminate'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.POST('/wallets/{id}/terminate', { params: { path: { id } } }));
          await done('Wallet terminated');
        }}
      >
        <Facts
          of={[
            ['Credits that are taken', <Quantity value={wallet.credit_balance} />],
            ['Their value', <Money amount={wallet.balance} currency={wallet.currency} />],
          ]}
        />
        <p>
          The wallet is closed for good and pays nothing any more. Purchases of credits that wait
          for their payment fail. The automatic top-up is switched off.
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}
