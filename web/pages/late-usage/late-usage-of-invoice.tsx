import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Allowed, useMay } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Card, Page, Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { isZero } from '../../app/billing/zero.ts';
import { comparedInvoices, type LateLine, type LateUsage } from './compared-invoices.ts';
import { outstandingOf, reasonOf } from './late-usage.ts';
import { SettleDialog, type SettledAs } from './settle-dialog.tsx';

/** The late usage of one finalized invoice: what differs and why, the events behind it, and how to settle it. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery({
    queryKey: ['late-usage', id],
    queryFn: async ({ signal }) => {
      // The invoice answers its number and its customer, or 404 if it does not exist.
      const [[late = null], invoice] = await Promise.all([
        comparedInvoices({ invoice_ids: [id], include_settled: true }, signal),
        answerOf(api.GET('/invoices/{id}', { params: { path: { id } }, signal })),
      ]);
      return { late, invoice };
    },
  });
  const invoice = query.data?.invoice;
  const number = invoice?.invoice_number;
  return (
    <Page
      title={number == null ? 'Late usage' : `Late usage of ${number}`}
      crumbs={[
        { label: 'Invoices', to: '/invoices' },
        { label: 'Late usage', to: '/late-usage' },
      ]}
      description={
        invoice === undefined ? undefined : (
          <Link to={`/customers/${invoice.customer_id}`}>
            <bdi>{invoice.customer?.name ?? invoice.customer_id}</bdi>
          </Link>
        )
      }
    >
      <Loaded query={query} what="the late usage">
        {({ late }) =>
          late === null ? (
            <EmptyState
              title="No late usage"
              action={<Link to={`/invoices/${id}`}>Go to the invoice</Link>}
            >
              The usage on this invoice is the same as today’s counts, so nothing is left to settle.
            </EmptyState>
          ) : (
            <Content late={late} />
          )
        }
      </Loaded>
    </Page>
  );
}

function Content({ late }: { readonly late: LateUsage }) {
  const [as, setAs] = useState<SettledAs | null>(null);
  const { charge, credit } = outstandingOf(late.lines);
  const mayCredit = useMay('creditnote:write');
  const money = (amount: string) => <Money amount={amount} currency={late.currency} />;
  const isDone = isZero(charge) && isZero(credit);
  return (
    <Stack>
      <Card>
        <Facts
          of={[
            ['Invoice', <Link to={`/invoices/${late.invoice_id}`}>{late.invoice_number ?? 'Invoice'}</Link>], // prettier-ignore
            ['Finalized', <Time at={late.finalized_at} />],
            ['Difference before tax', money(late.amount_difference)],
            ['Settled earlier', money(late.settled_amount)],
            ['Outstanding', money(late.outstanding_amount)],
          ]}
        />
      </Card>
      {late.refusal === null ? null : (
        <p role="status">The invoice cannot be rated again: {late.refusal}</p>
      )}
      <Section title="Differences">
        <PlainTable label="Differences" rows={rowsOf(late)} columns={columnsOf(late)} />
      </Section>
      <Section title="Settle">
        {isDone || late.invoice_status !== 'FINALIZED' ? (
          <p>
            {isDone
              ? 'Nothing is outstanding: no row costs more or less than was charged.'
              : 'The invoice was skipped. Compute it again instead.'}
          </p>
        ) : (
          <Stack>
            <p>
              Rows that cost more go on a one-off invoice, rows that cost less on a credit note. You
              see the document before it is issued.
            </p>
            <Allowed to="invoice:write">
              <Row>
                {isZero(charge) ? null : (
                  <Button tone="primary" onPress={() => setAs('invoice')}>
                    Charge {money(charge)}
                  </Button>
                )}
                {isZero(credit) || !mayCredit ? null : (
                  <Button
                    tone={isZero(charge) ? 'primary' : 'plain'}
                    onPress={() => setAs('credit_note')}
                  >
                    Credit {money(credit)}
                  </Button>
                )}
              </Row>
            </Allowed>
          </Stack>
        )}
      </Section>
      {as === null ? null : <SettleDialog late={late} as={as} onClose={() => setAs(null)} />}
    </Stack>
  );
}

const rowsOf = ({ lines }: LateUsage) =>
  lines.map((line, index) => ({ ...line, id: `${line.line_item_id ?? 'new'}-${index}` }));

const columnsOf = ({
  invoice_id,
  currency,
}: LateUsage): readonly Column<LateLine & { id: string }>[] => [
  { header: 'Line item', cell: ({ display_name }) => <bdi>{display_name ?? 'Usage'}</bdi> },
  {
    header: 'Billed',
    align: 'end',
    wideOnly: true,
    cell: ({ billed_usage }) => (billed_usage === null ? '–' : <Quantity value={billed_usage} />),
  },
  {
    header: 'Today',
    align: 'end',
    wideOnly: true,
    cell: ({ usage_now }) => (usage_now === null ? '–' : <Quantity value={usage_now} />),
  },
  { header: 'Reason', cell: reasonOf },
  {
    header: 'Events',
    cell: ({ line_item_id, display_name }) =>
      line_item_id === null ? (
        '–'
      ) : (
        <Link
          to={`/invoices/${invoice_id}?line=${line_item_id}`}
          aria-label={`Events behind ${display_name ?? 'the row'}`}
        >
          Events
        </Link>
      ),
  },
  {
    header: 'Settled',
    align: 'end',
    wideOnly: true,
    cell: ({ settled_amount }) => <Money amount={settled_amount} currency={currency} />,
  },
  {
    header: 'Outstanding',
    align: 'end',
    cell: ({ outstanding_amount }) => <Money amount={outstanding_amount} currency={currency} />,
  },
];
