import { CUSTOMER_EXEMPT } from '../../../domain/invoicing/tax-resolution.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { readBillingSources, type BillingSources } from './billing-sources.ts';
import {
  applicationRecords,
  couponsOf,
  namedCoupons,
  storedCoupons,
  storedDiscounts,
} from './coupon-applications.ts';
import { couponsIn, customSubtotal } from './settlement-currency.ts';
import { ledgerOf } from '../records/ledger-repository.ts';
import { NO_CREDITS, settle, type Settled } from './settle.ts';
import { storedTaxes, taxesOf, taxRecords } from './tax-rows.ts';

/** A draft with the rows that it will have. */
export interface Resettling {
  /** With `updated_at` and `updated_by` of the change. */
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
  /** Old id → new id of the rows that the change replaces. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly customer: Customer;
  /** Null for an invoice without a subscription. */
  readonly subscription: SubscriptionRow | null;
  /** `kept`: each discount keeps its amount, as far as the rows allow. `derived`: the coupons apply again. */
  readonly discounts: 'kept' | 'derived';
  /** The invoice that the draft replaces. */
  readonly replaces?: string;
}

/**
 * A draft with its totals computed again from the given rows: discounts, taxes and amounts (billing 17.6). No
 * usage is read and no row is rated.
 */
export async function resettleDraft(
  deps: Pick<BillingDeps, 'ids'>,
  db: Db,
  scope: Scope,
  { invoice, lines, renamed, customer, subscription, discounts, replaces }: Resettling,
): Promise<Settled> {
  const sources = await sourcesOf(db, scope, invoice, subscription);
  const derived =
    sources === null || subscription === null
      ? namedCoupons(invoice, renamed)
      : couponsIn(
          factorOf(invoice),
          couponsOf(
            { subscription, invoice, ...(replaces === undefined ? {} : { replaces }) },
            sources,
          ),
        );
  const settled = settle(withCustomSubtotal(invoice, lines), lines, {
    ...NO_CREDITS,
    ledger: await ledgerOf(db, scope, invoice.id),
    coupons: discounts === 'kept' ? storedDiscounts(invoice, renamed) : derived,
    taxes:
      sources === null || subscription === null
        ? taxesOfOneOff(invoice, customer)
        : taxesOf({ subscription, invoice, period: periodOf(invoice) }, sources, invoice.currency),
  });
  const coupons =
    discounts === 'kept' || sources === null
      ? storedCoupons(invoice)
      : (sources.coupons.get(subscription!.id) ?? []);
  return {
    lines: settled.lines,
    invoice: {
      ...settled.invoice,
      taxes: taxRecords(deps, settled.invoice, settled.taxes),
      coupon_applications: applicationRecords(deps, settled.invoice, settled.applications, {
        coupons,
        lines: settled.lines,
        stored: invoice.coupon_applications,
      }),
    },
  };
}

/** The factor of the invoice's rows; null for an invoice without a custom currency. */
const factorOf = ({ custom_currency, currency }: InvoiceRecord) =>
  custom_currency === null ? null : { factor: custom_currency.conversion_factor, currency };

const withCustomSubtotal = (
  invoice: InvoiceRecord,
  lines: readonly InvoiceLineRecord[],
): InvoiceRecord =>
  invoice.custom_currency === null
    ? invoice
    : {
        ...invoice,
        custom_currency: { ...invoice.custom_currency, subtotal: customSubtotal(lines) },
      };

/** Without a period, the instant of the invoice. */
const periodOf = ({ period_start, period_end, created_at }: InvoiceRecord): Period => ({
  start: period_start ?? created_at,
  end: period_end ?? created_at,
});

async function sourcesOf(
  db: Db,
  scope: Scope,
  invoice: InvoiceRecord,
  subscription: SubscriptionRow | null,
): Promise<BillingSources | null> {
  if (subscription === null || invoice.invoice_type !== 'SUBSCRIPTION') return null;
  return await readBillingSources(
    db,
    scope,
    [subscription],
    invoice.period_start ?? invoice.created_at,
  );
}

/** The taxes that the invoice names; none if the customer has become exempt. */
const taxesOfOneOff = (invoice: InvoiceRecord, customer: Pick<Customer, 'tax_treatment'>) =>
  customer.tax_treatment === 'exempt'
    ? { rates: [], exemption: CUSTOMER_EXEMPT }
    : storedTaxes(invoice);
