import * as z from 'zod';
import { Brand } from './brand.ts';
import { decimalText, id, instant, text } from './primitives.ts';
import { CHECKOUT_ACTIONS, CHECKOUT_STATUSES } from './words.ts';

/** The parts of a payment page's address: the session's id, and the secret behind the #. */
const linkFields = { session_id: id, secret: text() };

export const CheckoutPageLink = z.object(linkFields).meta({ id: 'CheckoutPageLink' });
export type CheckoutPageLink = z.output<typeof CheckoutPageLink>;

/** The outcomes that a person may choose on the page of the test gateway. */
export const PAGE_OUTCOMES = ['success', 'decline', '3ds', 'timeout'] as const;
export type PageOutcome = (typeof PAGE_OUTCOMES)[number];

export const CheckoutOutcomeBody = z
  .object({ ...linkFields, outcome: z.enum(PAGE_OUTCOMES) })
  .meta({ id: 'CheckoutOutcome' });

const Line = z.object({
  display_name: z.string(),
  quantity: decimalText,
  amount: decimalText,
});

/** What one coupon takes off, or one tax adds. */
const Deduction = z.object({
  /** Null if the parts of the sum are not known: it is one row then. */
  name: z.string().nullable(),
  /** Null for a fixed amount. */
  percentage: decimalText.nullable(),
  /** Whether the amounts of the rows include the tax already. */
  is_included: z.boolean(),
  amount: decimalText,
});

/**
 * The content of a payment page: what is paid, to whom, and until when. It contains no metadata of the tenant and
 * no id except the session's.
 */
export const CheckoutPage = z
  .object({
    id: z.string(),
    action: z.enum(CHECKOUT_ACTIONS),
    checkout_status: z.enum(CHECKOUT_STATUSES),
    /** Whether the session was cancelled before its payment. */
    is_cancelled: z.boolean(),
    terminal: z.boolean(),
    /** Whether the gateway has not answered lately. */
    stale: z.boolean(),
    next_poll_after_ms: z.int(),
    expires_at: instant,
    /** Milliseconds until `expires_at`, by the server's clock. */
    expires_in_ms: z.int(),
    seller: Brand,
    payer: z.string(),
    currency: z.string(),
    lines: z.array(Line),
    /** Number of further rows of the invoice. */
    hidden_lines: z.int(),
    subtotal: decimalText,
    discount: decimalText,
    /** `discount` by coupon. */
    discounts: z.array(Deduction),
    /** Prepaid credits that paid a part of the usage rows. */
    prepaid_credits: decimalText,
    tax: decimalText,
    /** `tax` by tax rate. */
    taxes: z.array(Deduction),
    /** The part of the total that other payments and credits have paid. */
    settled: decimalText,
    /** The amount that is paid here. */
    amount: decimalText,
    /** Whether no real money moves. */
    is_test: z.boolean(),
    /** Why the last attempt was declined. */
    decline: z.string().nullable(),
    /** Whether the payment waits for the customer's confirmation. */
    needs_confirmation: z.boolean(),
    success_url: z.string().nullable(),
    failure_url: z.string().nullable(),
    cancel_url: z.string().nullable(),
  })
  .meta({ id: 'CheckoutPage' });
export type CheckoutPage = z.infer<typeof CheckoutPage>;
