import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Allowed } from '../../app/person.tsx';
import { paidFor, useDrafts } from '../../app/billing/drafts.ts';
import { invoiceName } from '../../app/billing/invoice-name.ts';
import { NumberCell } from '../../app/billing/number-cell.tsx';
import { OpenAmount } from '../../app/billing/open-amount.tsx';
import { InvoicePayment } from '../../app/billing/invoice-payment.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { fractionOf, Money, Quantity } from '../../ui/money.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { Day, Period, Time } from '../../ui/time.tsx';
import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';

/** The newest rows; the page of the list has all of them. */
const NEWEST = 20;

function Lists({
  to,
  label,
  customerId,
  children,
}: {
  readonly to: string;
  readonly label: string;
  readonly customerId: string;
  readonly children: ReactNode;
}) {
  return (
    <Stack>
      {children}
      <Row>
        <ButtonLink to={to} search={{ customer_id: customerId } as never} small>
          {label}
        </ButtonLink>
      </Row>
    </Stack>
  );
}

interface Of {
  readonly customerId: string;
  readonly zone: string;
}

export function Subscriptions({ customerId, zone }: Of) {
  const query = useQuery({
    queryKey: ['customer-subscriptions', customerId],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/subscriptions/search', {
          body: {
            customer_id: customerId,
            limit: NEWEST,
            expand: ['plan'],
            // Without statuses the API lists active subscriptions only.
            subscription_status: [...SUBSCRIPTION_STATUSES],
          },
          signal,
        }),
      ),
  });
  return (
    <DataTable
      label="Subscriptions"
      query={query}
      rowTo={({ id }) => `/subscriptions/${id}`}
      columns={[
        { header: 'Plan', cell: ({ plan, plan_id }) => <bdi>{plan?.name ?? plan_id}</bdi> },
        { header: 'Status', cell: (row) => <Status word={row.subscription_status} /> },
        {
          header: 'Current period',
          cell: (row) => (
            <Period start={row.current_period_start} end={row.current_period_end} zone={zone} />
          ),
        },
        {
          header: 'Ends',
          wideOnly: true,
          cell: ({ cancel_at }) => <Day at={cancel_at} zone={zone} />,
        },
      ]}
      empty={
        <EmptyState
          title="No subscription yet"
          action={
            <Allowed to="subscription:write">
              <ButtonLink
                to="/subscriptions/new"
                search={{ customer_id: customerId } as never}
                tone="primary"
              >
                New subscription
              </ButtonLink>
            </Allowed>
          }
        >
          A subscription puts the customer on a plan. Fees and usage are billed from its start date.
        </EmptyState>
      }
    />
  );
}

export function Invoices({ customerId, zone }: Of) {
  const query = useQuery({
    queryKey: ['customer-invoices', customerId],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/invoices/search', {
          body: { customer_id: customerId, limit: NEWEST, skip_line_items: true },
          signal,
        }),
      ),
  });
  return (
    <Lists to="/invoices" label="All invoices of the customer" customerId={customerId}>
      <DataTable
        label="Invoices"
        query={query}
        rowTo={({ id }) => `/invoices/${id}`}
        columns={[
          {
            header: 'Number',
            cell: (row) => (
              <NumberCell
                number={invoiceName(row)}
                below={row.invoice_number === null ? [] : [<DueOrStatus of={row} zone={zone} />]}
              />
            ),
          },
          { header: 'Status', wideOnly: true, cell: (row) => <Status word={row.invoice_status} /> },
          {
            header: 'Payment',
            cell: (row) => <InvoicePayment invoice={row} />,
          },
          {
            header: 'Due',
            wideOnly: true,
            cell: ({ due_date }) => <Day at={due_date} zone={zone} />,
          },
          {
            header: 'Total',
            align: 'end',
            cell: (row) => <Money amount={row.total} currency={row.currency} />,
          },
          {
            header: 'Amount due',
            align: 'end',
            wideOnly: true,
            cell: (row) => <OpenAmount invoice={row} />,
          },
        ]}
        empty={
          <EmptyState
            title="No invoice yet"
            action={
              <ButtonLink to="/subscriptions" search={{ customer_id: customerId } as never} small>
                Subscriptions of the customer
              </ButtonLink>
            }
          >
            A subscription makes an invoice for each billing period.
          </EmptyState>
        }
      />
    </Lists>
  );
}

export function Wallets({ customerId }: { readonly customerId: string }) {
  const query = useQuery({
    queryKey: ['customer-wallets', customerId],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/wallets/search', { body: { customer_id: customerId, limit: NEWEST }, signal }),
      ),
  });
  const fraction = fractionOf(query.data?.items.map((wallet) => wallet.credit_balance) ?? []);
  const create = (
    <Allowed to="wallet:write">
      <ButtonLink to="/wallets/new" search={{ customer_id: customerId } as never} small>
        New wallet
      </ButtonLink>
    </Allowed>
  );
  return (
    <Stack>
      <DataTable
        label="Wallets"
        query={query}
        rowTo={({ id }) => `/wallets/${id}`}
        columns={[
          { header: 'Wallet', cell: ({ name }) => <bdi>{name}</bdi> },
          { header: 'Status', cell: (row) => <Status word={row.wallet_status} /> },
          {
            header: 'Credits',
            align: 'end',
            cell: ({ credit_balance }) => <Quantity value={credit_balance} fraction={fraction} />,
          },
          {
            header: 'Balance',
            align: 'end',
            cell: ({ balance, currency }) => <Money amount={balance} currency={currency} />,
          },
        ]}
        empty={
          <EmptyState title="No wallet yet" action={create}>
            A wallet holds prepaid credits, which pay invoices first.
          </EmptyState>
        }
      />
      {query.data === undefined || query.data.items.length === 0 ? null : <Row>{create}</Row>}
    </Stack>
  );
}

/** When a finalized invoice is due; the status of any other. */
function DueOrStatus({
  of: { invoice_status, due_date },
  zone,
}: {
  readonly of: Pick<ApiRecord<'Invoice'>, 'invoice_status' | 'due_date'>;
  readonly zone: string;
}) {
  if (invoice_status !== 'FINALIZED') return formatWord(invoice_status);
  return (
    <>
      due <Day at={due_date} zone={zone} />
    </>
  );
}

export function Payments({ customerId, zone }: Of) {
  const query = useQuery({
    queryKey: ['customer-payments', customerId],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/payments/search', {
          body: { customer_id: customerId, limit: NEWEST, expand: ['invoice'] },
          signal,
        }),
      ),
  });
  const drafts = useDrafts(query.data?.items ?? []);
  return (
    <DataTable
      label="Payments"
      query={query}
      rowTo={(row) =>
        row.destination_type === 'INVOICE'
          ? `/invoices/${row.destination_id}?tab=payments`
          : `/customers/${customerId}`
      }
      columns={[
        {
          header: 'For',
          cell: (row) => (
            <NumberCell
              number={paidFor(row, drafts)}
              below={[
                formatWord(row.payment_method_type),
                <Day key="day" at={row.succeeded_at ?? row.created_at} zone={zone} />,
              ]}
            />
          ),
        },
        { header: 'Method', wideOnly: true, cell: (row) => formatWord(row.payment_method_type) },
        { header: 'Status', cell: (row) => <Status word={row.payment_status} /> },
        {
          header: 'Time',
          wideOnly: true,
          cell: (row) => <Time at={row.succeeded_at ?? row.created_at} zone={zone} />,
        },
        {
          header: 'Amount',
          align: 'end',
          cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
        },
      ]}
      empty={
        <EmptyState
          title="No payment yet"
          action={
            <ButtonLink
              to="/invoices"
              search={{ customer_id: customerId, show: 'open' } as never}
              small
            >
              Open invoices of the customer
            </ButtonLink>
          }
        >
          A payment of a gateway or a wallet appears here by itself. A payment that reached your
          bank account is recorded on its invoice.
        </EmptyState>
      }
    />
  );
}
