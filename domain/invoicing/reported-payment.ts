import { invalidField } from '../errors.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import { epochMs } from '../time/instant.ts';
import { assertNoCardNumber, type PaymentMethodType } from './payments.ts';

/** The times of a payment; ISO text, null if unset. */
interface StatusTimes {
  readonly succeeded_at: string | null;
  readonly failed_at: string | null;
  readonly refunded_at: string | null;
  readonly voided_at: string | null;
}

export interface ReportedPayment extends StatusTimes {
  readonly payment_method_type: PaymentMethodType;
  readonly payment_method_id: string | null;
  readonly payment_gateway: string | null;
}

/** What a caller reports of a payment; undefined: not sent. */
export type PaymentReport = {
  readonly [Field in keyof Omit<ReportedPayment, 'payment_method_type'>]?:
    ReportedPayment[Field] | undefined;
};

/** The statuses that a time belongs to; refunds alone write `refunded_at`. */
const STATUSES_OF: Readonly<Record<keyof StatusTimes, readonly PaymentStatus[]>> = {
  succeeded_at: ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'],
  failed_at: ['FAILED'],
  refunded_at: [],
  voided_at: ['VOIDED'],
};
const TIMES = Object.keys(STATUSES_OF) as (keyof StatusTimes)[];

/**
 * Refuses times that the payment cannot have with the status that it gets, and a gateway or a method where its type has
 * none (money 8.3.3). A value that is stored already is accepted. `isOfGateway`: a connected gateway writes the times.
 */
export function assertReport(
  payment: ReportedPayment,
  report: PaymentReport,
  to: PaymentStatus,
  { at, isOfGateway }: { readonly at: string; readonly isOfGateway: boolean },
): void {
  for (const field of TIMES) {
    const time = report[field];
    if (time === undefined || isSame(time, payment[field])) continue;
    if (isOfGateway) throw invalidField(field, 'is set by the gateway of the payment');
    assertTime(payment, field, time, to, at);
  }
  assertMethod(payment, report);
}

const isSame = (left: string | null, right: string | null): boolean =>
  left === null || right === null ? left === right : epochMs(left) === epochMs(right);

function assertTime(
  { payment_method_type: method }: ReportedPayment,
  field: keyof StatusTimes,
  time: string | null,
  to: PaymentStatus,
  at: string,
): void {
  if (field === 'refunded_at') throw invalidField(field, 'follows from refunds: create a refund');
  if (!STATUSES_OF[field].includes(to))
    throw invalidField(field, `must be left out: the payment is ${to}`);
  if (time === null) throw invalidField(field, `must be a time: the payment is ${to}`);
  if (epochMs(time) > epochMs(at)) throw invalidField(field, 'must not be in the future');
  if (field === 'succeeded_at' && method === 'CREDITS')
    throw invalidField(field, 'is the time at which the credits were debited');
}

function assertMethod(payment: ReportedPayment, report: PaymentReport): void {
  const { payment_method_type: type } = payment;
  const { payment_gateway: gateway, payment_method_id: method } = report;
  const isOwn = type === 'OFFLINE' || type === 'CREDITS';
  if (isOwn && gateway && gateway !== payment.payment_gateway)
    throw invalidField('payment_gateway', `a payment of type ${type} uses no gateway`);
  if (method === undefined || method === payment.payment_method_id) return;
  if (type === 'CREDITS')
    throw invalidField('payment_method_id', 'is the wallet that the payment was created with');
  if (type === 'OFFLINE' && method)
    throw invalidField('payment_method_id', 'an OFFLINE payment has no method');
  if (method) assertNoCardNumber(method, 'payment_method_id');
}
