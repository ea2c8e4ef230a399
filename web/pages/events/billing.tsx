import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';

type History = ApiRecord<'EventHistory'>;
type Row = NonNullable<History['processed_events']>[number];
type Invoice = ApiRecord<'Invoice'>;

/** Maximum number of invoices of one subscription that are searched. */
const INVOICES_MAX = 20;

/** Subscription lines, prices and invoice rows that bill the event. */
export function Billing({
  of: { event, processed_events, debug_tracker, late_for },
}: {
  readonly of: History;
}) {
  const rows = processed_events ?? [];
  const { subscriptionOf, lineOf } = useSubscriptions(rows);
  const invoices = useInvoices(rows, event.timestamp);
  if (rows.length === 0)
    return (
      <Section title="Billing">
        <EmptyState title="No subscription line bills this event">
          {whyNotBilled(debug_tracker)}
        </EmptyState>
      </Section>
    );
  return (
    <Section title="Billing">
      <PlainTable
        label="Lines that bill the event"
        rows={rows.map((row) => ({ ...row, id: row.sub_line_item_id }))}
        rowTo={({ subscription_id }) => `/subscriptions/${subscription_id}`}
        columns={[
          {
            header: 'Subscription',
            cell: ({ subscription_id }) => (
              <bdi>{subscriptionOf(subscription_id)?.plan?.name ?? subscription_id}</bdi>
            ),
          },
          {
            header: 'Line',
            // Its name is mostly that of the price beside it.
            wideOnly: true,
            cell: (row) => <bdi>{lineOf(row)?.display_name || row.sub_line_item_id}</bdi>,
          },
          {
            header: 'Price',
            cell: (row) => {
              const price = lineOf(row)?.price;
              const plan_id = subscriptionOf(row.subscription_id)?.plan_id;
              if (price == null || !plan_id) return '–';
              return (
                <Link to={`/plans/${plan_id}`} search={{ price: price.id } as never}>
                  <bdi>{price.display_name ?? price.display_amount}</bdi>
                </Link>
              );
            },
          },
          {
            header: 'Quantity',
            align: 'end',
            cell: ({ qty_total }) => <Quantity value={qty_total} />,
          },
          {
            header: 'Invoice row',
            cell: (row) => {
              const late = late_for.filter((one) => one.subscription_id === row.subscription_id);
              return late.length > 0 ? (
                late.map((one) => <Late key={one.invoice_id} of={one} />)
              ) : (
                <InvoiceRow of={row} at={event.timestamp} among={invoices} />
              );
            },
          },
        ]}
      />
    </Section>
  );
}

/** The invoice that was computed before the event was counted, and what charged the event instead. */
function Late({ of }: { readonly of: History['late_for'][number] }) {
  const { invoice_id, invoice_number, invoice_status, settled_as, document_id } = of;
  return (
    <>
      <Badge tone="warning">Late</Badge> Not in{' '}
      <Link to={`/invoices/${invoice_id}`}>{invoice_number ?? 'the skipped invoice'}</Link>, which
      was computed before the event was counted.{' '}
      {document_id === null ? (
        invoice_status === 'SKIPPED' ? (
          'Recompute the invoice to bill it.'
        ) : (
          'It is not charged.'
        )
      ) : settled_as === 'invoice' ? (
        <>
          It is charged by <Link to={`/invoices/${document_id}`}>an invoice for late usage</Link>.
        </>
      ) : (
        'A credit note settles it.'
      )}
    </>
  );
}

/** The invoice row whose period holds the event. */
function InvoiceRow({
  of: row,
  at,
  among,
}: {
  readonly of: Row;
  readonly at: string;
  /** Undefined: not known; null: not read yet. */
  readonly among: readonly Invoice[] | null | undefined;
}) {
  if (among === undefined) return '–';
  if (among === null) return '';
  const found = among
    .flatMap((invoice) => (invoice.line_items ?? []).map((line) => ({ invoice, line })))
    .find(
      ({ line: { subscription_line_item_id: id, period_start, period_end } }) =>
        id === row.sub_line_item_id &&
        period_start !== null &&
        period_end !== null &&
        Date.parse(period_start) <= Date.parse(at) &&
        Date.parse(at) < Date.parse(period_end),
    );
  if (found === undefined) return 'Not invoiced yet';
  const { invoice, line } = found;
  return (
    <>
      <Link to={`/invoices/${invoice.id}`} search={{ line: line.id } as never}>
        {invoice.invoice_number ?? 'Draft'}
      </Link>{' '}
      {invoice.invoice_status === 'DRAFT' ? <Badge>Draft</Badge> : null}
    </>
  );
}

/** The subscriptions with their plans, lines and prices. */
function useSubscriptions(rows: readonly Row[]) {
  const may = useMay('subscription:read');
  const subscription_ids = [...new Set(rows.map(({ subscription_id }) => subscription_id))];
  const { data } = useQuery({
    queryKey: ['subscriptions-named', subscription_ids],
    enabled: may && subscription_ids.length > 0,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/subscriptions/search', {
          body: {
            subscription_ids,
            subscription_status: [...SUBSCRIPTION_STATUSES],
            expand: ['plan', 'subscription_line_items', 'prices'],
            limit: subscription_ids.length,
          },
          signal,
        }),
      ),
  });
  const subscriptionOf = (id: string) => data?.items.find((one) => one.id === id);
  return {
    subscriptionOf,
    lineOf: ({ subscription_id, sub_line_item_id }: Row) =>
      subscriptionOf(subscription_id)?.line_items?.find(({ id }) => id === sub_line_item_id),
  };
}

/** The invoices of the subscriptions whose period ends after the event, the earliest first. */
function useInvoices(
  rows: readonly Row[],
  timestamp: string,
): readonly Invoice[] | null | undefined {
  const may = useMay('invoice:read');
  const ids = [...new Set(rows.map(({ subscription_id }) => subscription_id))];
  const { data } = useQuery({
    queryKey: ['invoices-of-event', ids, timestamp],
    enabled: may && ids.length > 0,
    queryFn: async ({ signal }) =>
      (
        await Promise.all(
          ids.map((subscription_id) =>
            answerOf(
              api.POST('/invoices/search', {
                body: {
                  subscription_id,
                  period_end_gte: timestamp,
                  invoice_status: ['DRAFT', 'FINALIZED'],
                  sort: [{ field: 'period_end', direction: 'asc' }],
                  limit: INVOICES_MAX,
                },
                signal,
              }),
            ),
          ),
        )
      ).flatMap(({ items }) => items),
  });
  return may ? (data ?? null) : undefined;
}

/** The first step of the path that found nothing. */
function whyNotBilled(tracker: History['debug_tracker']): string {
  if (tracker === null) return 'The event is still on its way through the meters.';
  if (tracker.customer_lookup.status !== 'found')
    return 'No customer has this external id. Create the customer, and its events are found.';
  if (tracker.meter_matching.status !== 'found') return 'No meter matches the event.';
  if (tracker.price_lookup.status !== 'found') return 'No price uses a meter that matches.';
  return 'The customer has no subscription with a line for these prices at the time of the event.';
}
