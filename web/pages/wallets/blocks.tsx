import { useQuery } from '@tanstack/react-query';
import { creditReasonOf } from '../../app/billing/credit-reasons.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { fractionOf, Quantity } from '../../ui/money.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { Stack } from '../../ui/page.tsx';

const SHOWN = 200;

/** Blocks with credits left; the block that expires first is at the top. */
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
      return { ...page, items: [...page.items].sort(byExpiry) };
    },
  });
  const fraction = fractionOf(
    query.data?.items.flatMap((block) => [block.credit_amount, block.credits_available]) ?? [],
  );
  return (
    <Stack>
      <p>
        A wallet pays from the block with the lowest priority, then from the one that expires first.
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
            wideOnly: true,
            align: 'end',
            cell: ({ priority }) => priority ?? '–',
          },
          {
            header: 'Added credits',
            align: 'end',
            wideOnly: true,
            cell: ({ credit_amount }) => <Quantity value={credit_amount} fraction={fraction} />,
          },
          {
            header: 'Remaining',
            align: 'end',
            cell: ({ credits_available }) => (
              <Quantity value={credits_available} fraction={fraction} />
            ),
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

const byExpiry = (
  a: { readonly expiry_date: string | null },
  b: { readonly expiry_date: string | null },
): number => (a.expiry_date ?? '9999').localeCompare(b.expiry_date ?? '9999');
