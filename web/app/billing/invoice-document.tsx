import type { ReactNode } from 'react';
import type { ApiRecord } from '../../client/api.ts';
import { Money, Quantity } from '../../ui/money.tsx';
import { Day, Period } from '../../ui/time.tsx';
import { isZero } from './zero.ts';
import { discountsOf, taxesOf } from './invoice-deductions.ts';
import { isOwed } from './payment-state.ts';
import styles from './invoice-document.module.css';

type Invoice = ApiRecord<'Invoice'>;
export type InvoiceLine = ApiRecord<'InvoiceLineItem'>;

/** The invoice as its customer reads it. `explain` is shown before the figures of each row. */
export function InvoiceDocument({
  invoice,
  seller,
  name = 'the invoice',
  explain,
}: {
  readonly invoice: Invoice;
  /** Who sends it: the tenant. */
  readonly seller: string;
  /** Tells the tables of several documents of one page apart: `the invoice at the start`. */
  readonly name?: string;
  readonly explain?: (line: InvoiceLine) => ReactNode;
}) {
  const { currency, customer } = invoice;
  const zone = invoice.subscription?.customer_timezone ?? customer?.timezone ?? 'UTC';
  const lines = invoice.line_items ?? [];
  const isDraft = invoice.invoice_status === 'DRAFT';
  // The due date of a subscription's draft follows from its day of issue, which is not known yet.
  const isDueComputed = isDraft && invoice.invoice_type === 'SUBSCRIPTION';
  return (
    <article className={styles.paper} aria-label="Invoice document">
      <header className={styles.head}>
        <div>
          <p className={styles.seller}>{seller}</p>
          <p className={styles.muted}>
            {invoice.invoice_number ?? 'Draft, without a number until it is finalized'}
          </p>
        </div>
        <dl className={styles.dates}>
          {isDraft ? null : (
            <>
              <dt>Issued</dt>
              <dd>
                <Day at={invoice.issue_date} zone={zone} />
              </dd>
            </>
          )}
          {isDueComputed || invoice.due_date === null ? null : (
            <>
              <dt>Due</dt>
              <dd>
                <Day at={invoice.due_date} zone={zone} />
              </dd>
            </>
          )}
          {invoice.period_start === null || invoice.period_end === null ? null : (
            <>
              <dt>Period</dt>
              <dd>
                <Period start={invoice.period_start} end={invoice.period_end} zone={zone} />
              </dd>
            </>
          )}
        </dl>
      </header>
      {customer === null ? null : (
        <address className={styles.address}>
          <span className={styles.muted}>Bill to</span>
          {addressOf(customer).map((part, index) => (
            <bdi key={index}>{part}</bdi>
          ))}
        </address>
      )}
      <div
        className={styles.scroll}
        tabIndex={0}
        role="region"
        aria-label={`Line items of ${name}`}
      >
        <table className={styles.rows}>
          <thead>
            <tr>
              <th scope="col">Description</th>
              {explain === undefined ? null : (
                <th scope="col">
                  <span className="visually-hidden">Explanation</span>
                </th>
              )}
              <th scope="col">Quantity</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.id}>
                <td>
                  <bdi>{line.display_name ?? line.metadata['description'] ?? 'Line item'}</bdi>
                  <span className={styles.below}>
                    {line.plan_display_name ? <bdi>{line.plan_display_name}</bdi> : null}
                    {line.period_start === null || line.period_end === null ? null : (
                      <Period start={line.period_start} end={line.period_end} zone={zone} />
                    )}
                    {line.kind === 'base' ? null : <span>{KINDS[line.kind]}</span>}
                  </span>
                </td>
                {explain === undefined ? null : <td className={styles.why}>{explain(line)}</td>}
                <td>
                  <Quantity value={line.quantity} />
                </td>
                <td>
                  <Money amount={line.amount} currency={currency} />
                </td>
              </tr>
            ))}
            {lines.length === 0 ? (
              <tr>
                <td colSpan={4}>No line items: nothing is charged.</td>
              </tr>
            ) : null}
          </tbody>
        </table>
      </div>
      <Totals invoice={invoice} />
    </article>
  );
}

const KINDS = { overage: 'Overage', true_up: 'True-up', credit: 'Credit' } as const;

function Totals({ invoice }: { readonly invoice: Invoice }) {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['Subtotal', invoice.subtotal, true],
    ...discountsOf(invoice).map(([name, amount]) => [name, negated(amount), true] as const),
    ...taxesOf(invoice).map(([name, amount]) => [name, amount, true] as const),
    [
      'Prepaid credits',
      negated(invoice.total_prepaid_credits_applied),
      !isZero(invoice.total_prepaid_credits_applied),
    ],
    ['Total', invoice.total, true],
    ['Credited', negated(invoice.adjustment_amount), !isZero(invoice.adjustment_amount)],
    ['Paid', negated(invoice.amount_paid), !isZero(invoice.amount_paid)],
    ['Refunded', invoice.refunded_amount, !isZero(invoice.refunded_amount)],
    ['Amount due', invoice.amount_remaining, isOwed(invoice)],
  ];
  return (
    <dl className={styles.totals}>
      {rows
        .filter(([, , isShown]) => isShown)
        .map(([name, amount], index) => (
          <div key={index} data-strong={name === 'Total' || name === 'Amount due'}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <Money amount={amount} currency={invoice.currency} />
            </dd>
          </div>
        ))}
    </dl>
  );
}

const negated = (amount: string): string =>
  isZero(amount) ? amount : amount.startsWith('-') ? amount.slice(1) : `-${amount}`;

const addressOf = (customer: ApiRecord<'Customer'>): string[] =>
  [
    customer.name,
    customer.address_line1,
    customer.address_line2,
    [customer.address_postal_code, customer.address_city].filter(Boolean).join(' '),
    [customer.address_state, customer.address_country].filter(Boolean).join(', '),
    customer.email,
  ].filter((part) => part !== '');
