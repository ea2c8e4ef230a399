import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Closes a prepaid wallet for a post-paid one with its credits, and shows that one. */
export function ConvertWallet({
  wallet: { id, credit_balance, balance, currency },
  isOpen,
  onClose,
}: {
  readonly wallet: ApiRecord<'WalletBalance'>;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title="Convert to post-paid?"
      confirm="Convert wallet"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        const { new_wallet } = await answerOf(
          api.POST('/wallets/{id}/modify', {
            params: { path: { id } },
            body: { modification_type: 'prepaid_to_postpaid' },
          }),
        );
        notify('Wallet converted');
        await navigate({ to: `/wallets/${new_wallet.id}` });
        await queries.invalidateQueries();
      }}
    >
      <Facts
        of={[
          ['Credits that move', <Quantity value={credit_balance} />],
          ['Their value', <Money amount={balance} currency={currency} />],
        ]}
      />
      <p>
        This wallet is closed for good. A new wallet takes its credits, and pays an invoice only
        when a payment with credits is made. Purchases that wait for their payment fail.
      </p>
    </ConfirmDialog>
  );
}
