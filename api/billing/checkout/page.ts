import { decimal, decimalText } from '../../../domain/money.ts';
import {
  couponDeduction,
  deductionRows,
  taxDeduction,
} from '../../../domain/invoicing/deduction-rows.ts';
import type { CheckoutPage } from '../../../schemas/checkout-page.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { Caller } from '../../conventions/record.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { readBrand } from '../../tenancy/tenants/brand.ts';
import type { BillingDeps } from '../../deps.ts';
import { findGateway } from '../gateways/open-gateway.ts';
import { deductionNames } from '../records/deduction-names.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { getStoredInvoice } from '../records/invoice-repository.ts';
import { getPayment } from '../records/payment-repository.ts';
import { checkoutAnswer } from './checkout-answer.ts';

/** Invoice rows that a payment page lists; further rows are only counted. */
const LINES_MAX = 50;

/** What the payment page of a session shows. */
export async function checkoutPage(
  deps: BillingDeps,
  { scope }: Caller,
  session: CheckoutRecord,
): Promise<CheckoutPage> {
  const { pool } = deps;
  const [answer, brand, customer, invoice, lines, gatewayState] = await Promise.all([
    checkoutAnswer(deps, scope, session),
    readBrand(pool, scope),
    getCustomer(pool, scope, session.customer_id),
    // An invoice that was archived with its session still shows what was to be paid.
    getStoredInvoice(pool, scope, session.checkout_invoice_id!),
    linesOfInvoices(pool, scope, [session.checkout_invoice_id!]),
    testGatewayState(deps, scope, session),
  ]);
  const { currency, subtotal, total_discount, total_tax, total } = invoice;
  const amount = answer.payment!.amount;
  const names = await deductionNames(pool, scope, invoice);
  return {
    id: session.id,
    action: session.action,
    checkout_status: session.checkout_status,
    is_cancelled: session.cancelled_at !== null,
    terminal: answer.terminal,
    stale: answer.stale,
    next_poll_after_ms: answer.next_poll_after_ms,
    expires_at: session.expires_at,
    expires_in_ms: Math.max(Date.parse(session.expires_at) - deps.clock.now(), 0),
    seller: brand,
    payer: customer.name,
    currency,
    lines: lines.slice(0, LINES_MAX).map(({ display_name, quantity, amount }) => ({
      display_name: display_name ?? '',
      quantity,
      amount,
    })),
    hidden_lines: Math.max(lines.length - LINES_MAX, 0),
    subtotal,
    discount: total_discount,
    discounts: deductionRows(total_discount, invoice.coupon_applications.map(couponDeduction)),
    prepaid_credits: invoice.total_prepaid_credits_applied,
    tax: total_tax,
    taxes: deductionRows(
      total_tax,
      invoice.taxes.map((tax) => taxDeduction(tax, names.get(tax.tax_rate_id) ?? '')),
    ),
    settled: decimalText(decimal(total).minus(decimal(amount))),
    amount,
    is_test: session.payment_provider === 'test',
    decline: answer.terminal ? null : (answer.payment!.error_message ?? null),
    needs_confirmation: !answer.terminal && gatewayState === 'requires_action',
    success_url: session.success_url,
    failure_url: session.failure_url,
    cancel_url: session.cancel_url,
  };
}

/** The state at the test gateway; null for other gateways, which have pages of their own. */
async function testGatewayState(
  deps: BillingDeps,
  scope: Caller['scope'],
  session: CheckoutRecord,
) {
  if (session.payment_provider !== 'test' || session.checkout_payment_id === null) return null;
  const payment = await getPayment(deps.pool, scope, session.checkout_payment_id);
  if (payment.connection_id === null || payment.gateway_payment_id === null) return null;
  const open = await findGateway(deps, scope, payment.connection_id);
  return (await open?.gateway.findPayment(payment.gateway_payment_id))?.state ?? null;
}
