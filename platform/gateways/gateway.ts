/**
 * A service that moves money. Card numbers never pass through here: a method is the gateway's own id of it.
 * Every request carries a token that the caller has stored before; the same token again is the same request.
 */
export interface PaymentGateway {
  readonly provider: string;
  /** Whether it moves real money. An answer of the other kind is never accepted. */
  readonly livemode: boolean;
  /** Charges a method now. */
  charge(request: ChargeRequest): Promise<GatewayPayment>;
  /** Makes a page on which the customer pays. */
  createLink(request: ChargeRequest): Promise<GatewayPayment>;
  /** The payment as the gateway has it; null if it has none. */
  findPayment(gatewayPaymentId: string): Promise<GatewayPayment | null>;
  /** The payment of an earlier request whose answer was lost; null if the request never arrived. */
  findPaymentByToken(token: string): Promise<GatewayPayment | null>;
  /** Stops a payment that nobody has paid. Returns its state, which may be paid after all. */
  cancelPayment(gatewayPaymentId: string): Promise<GatewayPayment>;
  refund(request: RefundRequest): Promise<GatewayRefund>;
  findRefund(gatewayRefundId: string): Promise<GatewayRefund | null>;
  /** The event in a signed request. Throws 401 if the signature is wrong or older than five minutes. */
  readEvent(raw: Buffer, headers: Headers, nowMs: number): GatewayEvent;
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
  readonly success_url: string | null;
  readonly cancel_url: string | null;
}

export interface RefundRequest {
  readonly token: string;
  readonly reference: string;
  readonly gateway_payment_id: string;
  readonly amount: string;
  readonly currency: string;
}

/** `requires_action`: the customer must confirm, at `url`. */
export type GatewayPaymentState =
  'requires_action' | 'pending' | 'processing' | 'succeeded' | 'failed' | 'cancelled';

export interface GatewayPayment {
  readonly gateway_payment_id: string;
  readonly reference: string | null;
  readonly state: GatewayPaymentState;
  readonly amount: string;
  readonly currency: string;
  readonly livemode: boolean;
  readonly account: string | null;
  readonly url: string | null;
  readonly error: string | null;
}

export interface GatewayRefund {
  readonly gateway_refund_id: string;
  readonly gateway_payment_id: string;
  /** Our id of the refund; null if it was made elsewhere. */
  readonly reference: string | null;
  readonly state: 'pending' | 'succeeded' | 'failed';
  readonly amount: string;
  readonly error: string | null;
}

/** What an event is about. Its state is asked of the gateway: events come late, twice and out of order. */
export type GatewayEvent = {
  readonly event_id: string;
  readonly gateway_payment_id: string;
  readonly reference: string | null;
} & (
  | { readonly kind: 'payment' }
  | { readonly kind: 'refund'; readonly gateway_refund_id: string }
  | { readonly kind: 'dispute'; readonly dispute_id: string; readonly amount: string }
);

/** The outcome of a request is unknown: it may have happened. Ask again with the same token. */
export class GatewayUnavailable extends Error {}
