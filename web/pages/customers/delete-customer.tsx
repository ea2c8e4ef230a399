import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Archives the customer, after what becomes of the wallets was said. The server names what still runs or is open. */
export function DeleteCustomer({ customer }: { readonly customer: ApiRecord<'Customer'> }) {
  const { id, name } = customer;
  const [isOpen, setOpen] = useState(false);
  const mayReadWallets = useMay('wallet:read');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const params = { path: { id } };
  const wallets = useQuery({
    queryKey: ['customer-wallets', id, 'deletion'],
    enabled: isOpen && mayReadWallets,
    queryFn: ({ signal }) => answerOf(api.GET('/customers/{id}/wallets', { params, signal })),
  });
  return (
    <>
      <Button tone="danger" onPress={() => setOpen(true)}>
        Delete
      </Button>
      <ConfirmDialog
        title="Delete this customer?"
        confirm="Delete customer"
        tone="danger"
        isOpen={isOpen}
        isReady={!mayReadWallets || wallets.isSuccess}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/customers/{id}', { params }));
          notify('Customer deleted');
          await navigate({ to: '/customers' });
          void queries.invalidateQueries();
        }}
      >
        <Stack>
          <p>
            <bdi>{name}</bdi> gets no new subscriptions, wallets and invoices. Invoices and payments
            stay. This cannot be undone. It is refused while a subscription runs, an invoice is
            open, or a payment or refund is in progress.
          </p>
          {mayReadWallets ? (
            <Loaded query={wallets} what="the wallets">
              {(all) => <WalletsAfter wallets={all} />}
            </Loaded>
          ) : null}
        </Stack>
      </ConfirmDialog>
    </>
  );
}

/** What becomes of each wallet: the server closes an empty one, and freezes one that holds credits. */
function WalletsAfter({ wallets }: { readonly wallets: readonly ApiRecord<'Wallet'>[] }) {
  if (wallets.length === 0) return <p>The customer has no wallet.</p>;
  return (
    <>
      <p>Empty wallets are closed. Others are frozen: their credits are not spent any more.</p>
      <ul>
        {wallets.map((wallet) => (
          <li key={wallet.id}>
            <bdi>{wallet.name || wallet.id}</bdi>: <Quantity value={wallet.credit_balance} />{' '}
            credits
          </li>
        ))}
      </ul>
    </>
  );
}
