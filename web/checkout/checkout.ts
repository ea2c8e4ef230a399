import type { ApiRecord } from '../client/api.ts';

/** What the payment page of a session shows. */
export type Checkout = ApiRecord<'CheckoutPage'>;
/** The parts of the page's address. */
export type CheckoutLink = ApiRecord<'CheckoutPageLink'>;
