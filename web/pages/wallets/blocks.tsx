import { useQuery } from '@tanstack/react-query';
import { inOrderOfUse } from '../../../domain/wallet/order-of-use.ts';
import { creditReasonOf } from '../../app/billing/credit-reasons.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { fractionOf, Quantity } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { Stack } from '../../ui/page.tsx';

const SHOWN = 200;

/** Blocks with credits left; the block that is used first is at the top. */
export function Blocks({ wallet }: { readonly wallet: ApiRecord<'WalletBalance'> }) {
  const query = useQuery({
    queryKey: ['wallet-blocks', wallet.id],
    queryFn: async ({ signal }) => {
      const page = await answerOf(
        api.POST('/wallets/transactions/search', {
          body: {
            wallet_id: wallet.id,
            type: 'credit',
            transaction_status: 'completed',
            credits_available_gt: '0',
            limit: SHOWN,
          },
          signal,
        }),
      );
      return { ...page, items: inOrderOfUse(page.items) };
    },
  });
  const blocks = query.data?.items ?? [];
  const added = fractionOf(blocks.map(({ credit_amount }) => credit_amount));
  const left = fractionOf(blocks.map(({ credits_available }) => credits_available));
  return (
    <Stack>
      <p>
        The blocks in the order in which they are used: the smallest priority first, blocks without
        one last. Of blocks with the same priority, the one that expires first; then the older one.
      </p>
      <DataTable
        label="Blocks of credits"
        query={query}
        columns={[
          { header: 'Expires', cell: ({ expiry_date }) => expiry_date === null ? 'Never' : <Time at={expiry_date} /> }, // prettier-ignore
          { header: 'Source', cell: creditReasonOf },
          { header: 'Added', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
          {
            header: 'Priority',
            align: 'end',
            cell: ({ priority }) => priority ?? '–',
          },
          {
            header: 'Added credits',
            align: 'end',
            wideOnly: true,
            cell: ({ credit_amount }) => <Quantity value={credit_amount} fraction={added} />,
          },
          {
            header: 'Remaining',
            align: 'end',
            cell: ({ credits_available }) => <Quantity value={credits_available} fraction={left} />,
          },
        ]}
        empty={
          <EmptyState title="No credits left">
            A top-up adds a block of credits, with a day on which it expires or without.
          </EmptyState>
        }
      />
    </Stack>
  );
}
