import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Narrow, PlainTable } from '../../ui/data-table.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Money } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';

/** Charges, credits, payments and refunds of an invoice as one list, with the amount due after each. */
export function Ledger({ invoiceId, zone }: { readonly invoiceId: string; readonly zone: string }) {
  const query = useQuery({
    queryKey: ['ledger', invoiceId],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/invoices/{id}/ledger', { params: { path: { id: invoiceId } }, signal })),
  });
  return (
    <Loaded query={query} what="the ledger">
      {({ currency, entries, ...sums }) => (
        <Stack>
          <Figures>
            <Figure label="Total" value={<Money amount={sums.total} currency={currency} />} />
            <Figure label="Paid" value={<Money amount={sums.amount_paid} currency={currency} />} />
            <Figure
              label="Credit notes"
              value={<Money amount={sums.adjustment_amount} currency={currency} />}
            />
            <Figure
              label="Refunded"
              value={<Money amount={sums.refunded_amount} currency={currency} />}
            />
            <Figure
              label="Amount due"
              value={<Money amount={sums.amount_remaining} currency={currency} />}
            />
          </Figures>
          {entries.length === 0 ? (
            <EmptyState title="No entries yet">
              The first entry is the charge, when the invoice is finalized.
            </EmptyState>
          ) : (
            <PlainTable
              label="Ledger"
              rows={entries}
              columns={[
                {
                  header: 'Type',
                  cell: ({ type, at }) => (
                    <>
                      {formatWord(type)}
                      <Narrow>
                        <Time at={at} zone={zone} />
                      </Narrow>
                    </>
                  ),
                },
                { header: 'Time', wideOnly: true, cell: ({ at }) => <Time at={at} zone={zone} /> },
                { header: 'Description', wideOnly: true, cell: ({ description }) => description },
                {
                  header: 'Reason or method',
                  wideOnly: true,
                  cell: ({ reason }) =>
                    reason === null ? '–' : /^[A-Z_]+$/.test(reason) ? formatWord(reason) : reason,
                },
                {
                  header: 'Status',
                  wideOnly: true,
                  cell: ({ status }) => <Status word={status} />,
                },
                {
                  header: 'Amount',
                  align: 'end',
                  wideOnly: true,
                  cell: ({ amount }) => <Money amount={amount} currency={currency} />,
                },
                {
                  header: 'Change',
                  align: 'end',
                  cell: ({ effect }) => <Money amount={effect} currency={currency} />,
                },
                {
                  header: 'Amount due',
                  align: 'end',
                  cell: ({ open_amount }) => <Money amount={open_amount} currency={currency} />,
                },
              ]}
            />
          )}
        </Stack>
      )}
    </Loaded>
  );
}
