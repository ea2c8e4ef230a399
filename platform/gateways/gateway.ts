/**
 * A service that moves money. A payment method is an id of the gateway; card numbers never reach this
 * product. Every request carries a token that the caller stored first. A repeat with the same token is the
 * same request.
 */
export interface PaymentGateway {
  readonly provider: string;
  /** Whether it moves real money. An answer in the other mode is never accepted. */
  readonly livemode: boolean;
  /** The gateway's own id of the customer, made there if it has none; null for a gateway without customers. */
  ensureCustomer(payer: GatewayPayer): Promise<string | null>;
  /** Charges a method now. */
  charge(request: ChargeRequest): Promise<GatewayPayment>;
  /** Creates a page on which the customer pays. */
  createLink(request: ChargeRequest): Promise<GatewayPayment>;
  /** The state of the payment at the gateway; null if unknown there. */
  findPayment(gatewayPaymentId: string): Promise<GatewayPayment | null>;
  /** The payment of an earlier request whose answer was lost; null if the request never arrived. */
  findPaymentByToken(token: string): Promise<GatewayPayment | null>;
  /** Cancels an unpaid payment. Returns its state, which is paid if the customer paid first. */
  cancelPayment(gatewayPaymentId: string): Promise<GatewayPayment>;
  /** Keeps a method for later charges, and says what it is. Refuses an id that is not a payment method. */
  keepMethod(gatewayMethodId: string, payer: GatewayPayer): Promise<GatewayMethod>;
  /** Forgets a kept method; a method that is already gone is not an error. */
  forgetMethod(gatewayMethodId: string): Promise<void>;
  refund(request: RefundRequest): Promise<GatewayRefund>;
  findRefund(gatewayRefundId: string): Promise<GatewayRefund | null>;
  /**
   * The event in a signed request; null if it concerns no record of this product. Throws 401 if the signature is
   * wrong or older than five minutes.
   */
  readEvent(raw: Buffer, headers: Headers, nowMs: number): GatewayEvent | null;
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export interface ChargeRequest {
  readonly token: string;
  /** Our id of the payment; the gateway returns it. */
  readonly reference: string;
  /** Decimal text in main units. */
  readonly amount: string;
  readonly currency: string;
  readonly method: string | null;
  readonly payer: GatewayPayer;
  /** The customer is not there to confirm: a charge that needs them fails. */
  readonly is_off_session: boolean;
  /** Keep the method for later charges if the payment succeeds. */
  readonly saves_method: boolean;
  /** The page also asks for the customer's tax id; a gateway without such a page ignores it. */
  readonly collects_tax_id: boolean;
  readonly success_url: string | null;
  readonly cancel_url: string | null;
}

/** The customer who pays. */
export interface GatewayPayer {
  /** Our id of the customer. */
  readonly reference: string;
  readonly name: string | null;
  readonly email: string | null;
  /** The gateway's own id; null before it is known. */
  readonly gateway_customer_id: string | null;
}

export interface RefundRequest {
  readonly token: string;
  readonly reference: string;
  readonly gateway_payment_id: string;
  readonly amount: string;
  readonly currency: string;
}

/** A method that the gateway keeps; of a card only what is printed on receipts. */
export interface GatewayMethod {
  readonly gateway_method_id: string;
  /** `card`, `us_bank_account` and so on, in the gateway's words. */
  readonly method_type: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly exp_month: number | null;
  readonly exp_year: number | null;
}

/** `requires_action`: the customer must confirm, at `url`. */
export type GatewayPaymentState =
  'requires_action' | 'pending' | 'processing' | 'succeeded' | 'failed' | 'cancelled';

export interface GatewayPayment {
  /** Null if the gateway refused the request: it has no such payment. */
  readonly gateway_payment_id: string | null;
  /** A second id under which refunds and disputes name the payment; null without one. */
  readonly tracking_id: string | null;
  readonly reference: string | null;
  readonly state: GatewayPaymentState;
  readonly amount: string;
  readonly currency: string;
  readonly livemode: boolean;
  readonly account: string | null;
  readonly url: string | null;
  /** The method that paid, if the gateway keeps it. */
  readonly method: GatewayMethod | null;
  readonly error: string | null;
}

export interface GatewayRefund {
  /** Null if the gateway refused the request. */
  readonly gateway_refund_id: string | null;
  readonly gateway_payment_id: string;
  /** Our id of the refund; null if it was made elsewhere. */
  readonly reference: string | null;
  /** `cancelled`: somebody cancelled the refund at the gateway before it was paid. */
  readonly state: 'pending' | 'succeeded' | 'failed' | 'cancelled';
  readonly amount: string;
  readonly error: string | null;
}

/**
 * The subject of an event. Its state is read from the gateway, because events arrive late, twice and out of
 * order.
 */
export type GatewayEvent = {
  readonly event_id: string;
  readonly gateway_payment_id: string;
  readonly reference: string | null;
} & (
  | { readonly kind: 'payment' }
  | { readonly kind: 'refund'; readonly gateway_refund_id: string }
  | { readonly kind: 'dispute'; readonly dispute_id: string; readonly amount: string }
);

/** The outcome of a request is unknown: the gateway may have executed it. Retry with the same token. */
export class GatewayUnavailable extends Error {}

/** The state of a payment that the gateway did not take: there is no payment there. */
export const refusedPayment = (
  { livemode }: Pick<PaymentGateway, 'livemode'>,
  { reference, amount, currency }: Pick<ChargeRequest, 'reference' | 'amount' | 'currency'>,
  error: string,
): GatewayPayment => ({
  gateway_payment_id: null,
  tracking_id: null,
  reference,
  state: 'failed',
  amount,
  currency,
  livemode,
  account: null,
  url: null,
  method: null,
  error,
});
