import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import { discountRows, taxRows } from '../app/billing/invoice-deductions.ts';
import { isZero } from '../app/billing/zero.ts';
import { Seller } from '../app/seller.tsx';
import { answerOf } from '../client/api.ts';
import { linkedApi } from '../client/linked-api.ts';
import { Refusal } from '../client/refusal.ts';
import { Badge } from '../ui/badge.tsx';
import { PlainTable } from '../ui/data-table.tsx';
import { Money, Quantity } from '../ui/money.tsx';
import { Awaiting, EmptyState, Failure } from '../ui/query-state.tsx';
import type { Checkout, CheckoutLink } from './checkout.ts';
import { Countdown } from './countdown.tsx';
import { Ended } from './ended.tsx';
import { TestGateway } from './test-gateway.tsx';
import styles from './checkout.module.css';

/** The payment page of a link: it asks for the state of its session as often as the server says. */
export function CheckoutPage({ link }: { readonly link: CheckoutLink }) {
  const client = useQueryClient();
  const queryKey = ['checkout', link.session_id];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      answerOf(linkedApi.POST('/checkout/pages/open', { body: link, signal })),
    refetchInterval: ({ state }) => state.data?.next_poll_after_ms || false,
  });
  if (query.isPending) return <Awaiting what="payment" />;
  const isGone = query.error instanceof Refusal && query.error.status === 404;
  if (isGone) return <UnknownLink />;
  if (query.data === undefined) return <Failure error={query.error!} retry={query.refetch} />;
  const checkout = query.data;
  return (
    <div className={styles.page}>
      <Seller brand={checkout.seller}>
        {checkout.is_test ? <Badge tone="warning">Test: no real money moves</Badge> : null}
      </Seller>
      {checkout.terminal ? (
        <Ended checkout={checkout} />
      ) : (
        <Payable
          checkout={checkout}
          link={link}
          receivedAtMs={query.dataUpdatedAt}
          onChange={(changed) => client.setQueryData(queryKey, changed)}
          onEnd={() => void query.refetch()}
        />
      )}
      <Bill checkout={checkout} />
    </div>
  );
}

function Payable({
  checkout,
  link,
  receivedAtMs,
  onChange,
  onEnd,
}: {
  readonly checkout: Checkout;
  readonly link: CheckoutLink;
  readonly receivedAtMs: number;
  readonly onChange: (changed: Checkout) => void;
  readonly onEnd: () => void;
}) {
  const { seller, amount, currency, cancel_url } = checkout;
  useEffect(() => {
    document.title = `Pay ${seller.name}`;
  }, [seller.name]);
  return (
    <>
      <div>
        <h1 className={styles.title}>Pay {seller.name}</h1>
        <p className={styles.amount}>
          <Money amount={amount} currency={currency} />
        </p>
        <Countdown leftMs={checkout.expires_in_ms} receivedAtMs={receivedAtMs} onEnd={onEnd} />
      </div>
      {checkout.decline === null ? null : (
        <p className={styles.declined} role="alert">
          The payment was declined ({checkout.decline.replaceAll('_', ' ')}). Nothing was charged.
          You can pay again.
        </p>
      )}
      {checkout.stale ? (
        <p className={styles.note} role="status">
          The payment provider does not answer at the moment. This page shows the outcome as soon as
          it does; do not pay a second time.
        </p>
      ) : null}
      {checkout.checkout_status === 'initiated' ? (
        <Awaiting what="payment at the provider" />
      ) : (
        <TestGateway checkout={checkout} link={link} onChange={onChange} />
      )}
      {cancel_url === null ? null : (
        <p>
          <a href={cancel_url}>Go back without paying</a>
        </p>
      )}
    </>
  );
}

/** The words of the bill, while it can be paid and afterwards. */
function billWords({ terminal, checkout_status }: Checkout): { title: string; sum: string } {
  if (!terminal) return { title: 'What you pay for', sum: 'Amount due' };
  const sum = checkout_status === 'completed' ? 'Amount paid' : 'Amount, not paid';
  return { title: 'What it was for', sum };
}

/** What is paid: the rows of the invoice and their sum. */
function Bill({ checkout }: { readonly checkout: Checkout }) {
  const words = billWords(checkout);
  const { currency, lines, hidden_lines, subtotal, prepaid_credits, settled, amount } = checkout;
  const money = (value: string) => <Money amount={value} currency={currency} />;
  const negative = (value: string) => money(value.startsWith('-') ? value.slice(1) : `-${value}`);
  const sums: readonly (readonly [string, ReactNode])[] = [
    ['Subtotal', money(subtotal)],
    ...discountRows(checkout.discounts).map(([name, of]) => [name, negative(of)] as const),
    ...taxRows(checkout.taxes).map(([name, of]) => [name, money(of)] as const),
    ...(isZero(prepaid_credits) ? [] : ([['Prepaid credits', negative(prepaid_credits)]] as const)),
    ...(settled === '0' ? [] : ([['Already settled', negative(settled)]] as const)),
    [words.sum, money(amount)],
  ];
  return (
    <section className={styles.bill}>
      <h2>{words.title}</h2>
      <p className={styles.small}>
        Billed to <bdi>{checkout.payer}</bdi>
      </p>
      <PlainTable
        label="Items"
        rows={lines.map((line, index) => ({ ...line, id: String(index) }))}
        columns={[
          { header: 'Item', cell: (line) => <bdi>{line.display_name || 'Item'}</bdi> },
          {
            header: 'Quantity',
            align: 'end',
            wideOnly: true,
            cell: (line) => <Quantity value={line.quantity} />,
          },
          { header: 'Amount', align: 'end', cell: (line) => money(line.amount) },
        ]}
      />
      {hidden_lines === 0 ? null : <p>and {hidden_lines} more, which are part of the sum</p>}
      <dl className={styles.sums}>
        {sums.map(([name, value], index) => (
          <div key={index}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function UnknownLink() {
  return (
    <div className={styles.page}>
      <h1 className={styles.title}>Payment</h1>
      <EmptyState title="This link is not valid">
        Open the complete link from the message again. If it still does not open the payment, the
        link has expired: ask the company that bills you for a new one.
      </EmptyState>
    </div>
  );
}
