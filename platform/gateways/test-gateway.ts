import { z } from 'zod';
import { invalidField } from '../../domain/errors.ts';
import { inScope, type Pool, type Scope } from '../../postgres/client.ts';
import { matching, text } from '../../schemas/primitives.ts';
import type { Ids } from '../ids.ts';
import {
  GatewayUnavailable,
  type ChargeRequest,
  type GatewayEvent,
  type GatewayMethod,
  type GatewayPayment,
  type GatewayPaymentState,
  type GatewayRefund,
  type PaymentGateway,
} from './gateway.ts';
import { assertSigned, badSignature } from './signature.ts';

export const TEST_OUTCOMES = [
  'success', 'decline', '3ds', 'timeout', 'duplicate', 'late', 'reordered', 'dispute',
] as const; // prettier-ignore
export type TestOutcome = (typeof TEST_OUTCOMES)[number];

export interface TestGatewayDeps {
  readonly pool: Pool;
  readonly ids: Ids;
}

export interface TestConnection {
  readonly id: string;
  readonly scope: Scope;
  readonly webhook_secret: string | null;
}

/** The built-in gateway. A person sets the outcome of a payment. */
export interface TestGateway extends PaymentGateway {
  /** Sets the outcome of the payment; returns the events that the gateway then sends, in their order. */
  setOutcome(gatewayPaymentId: string, outcome: TestOutcome): Promise<GatewayEvent[]>;
}

interface PaymentRow {
  readonly id: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
  readonly state: GatewayPaymentState;
  readonly error: string | null;
  readonly url: string | null;
  /** The method to keep; null if none was asked for. */
  readonly method: string | null;
}

/** Whether a charge of this method succeeds, fails, or waits for `setOutcome`. */
const STATE_OF_METHOD: Readonly<Record<TestOutcome, GatewayPaymentState>> = {
  success: 'succeeded',
  decline: 'failed',
  '3ds': 'requires_action',
  timeout: 'succeeded',
  duplicate: 'pending',
  late: 'pending',
  reordered: 'pending',
  dispute: 'succeeded',
};

const TEST_METHOD = /^pm_test_(success|decline|3ds|timeout|duplicate|late|reordered|dispute)$/;

const testOutcome = (method: string | null): TestOutcome | null =>
  (TEST_METHOD.exec(method ?? '')?.[1] as TestOutcome | undefined) ?? null;

/** Refuses ids that are not methods of the test gateway, above all card numbers. */
export function assertTestMethod(method: string, field = 'payment_method_id'): void {
  if (testOutcome(method) !== null) return;
  const names = TEST_OUTCOMES.map((name) => `pm_test_${name}`).join(', ');
  throw invalidField(field, `must be one of ${names}`);
}

/** A card of the test gateway; its last digits are those of no real card. */
const testMethod = (gateway_method_id: string): GatewayMethod => ({
  gateway_method_id,
  method_type: 'card',
  brand: 'test',
  last4: '0000',
  exp_month: 12,
  exp_year: 2099,
});

const TestEvent = z.object({
  id: text().min(1),
  type: z.enum(['payment', 'refund', 'dispute']),
  gateway_payment_id: text().min(1),
  gateway_refund_id: text().optional(),
  reference: text().optional(),
  amount: matching(/^\d{1,20}(\.\d{1,4})?$/, 30, 'must be an amount').optional(),
});

/** A gateway that moves no money. The name of a method says what happens: `pm_test_decline`. */
export function createTestGateway(
  { pool, ids }: TestGatewayDeps,
  { id: connection_id, scope, webhook_secret }: TestConnection,
): TestGateway {
  const here = { ...scope, connection_id };
  const seen = (row: PaymentRow): GatewayPayment => ({
    gateway_payment_id: row.id,
    tracking_id: null,
    reference: row.reference,
    state: row.state,
    amount: row.amount,
    currency: row.currency,
    livemode: false,
    account: null,
    url: row.url,
    method: row.state === 'succeeded' && row.method !== null ? testMethod(row.method) : null,
    error: row.error,
  });
  const find = async (column: 'id' | 'token', value: string): Promise<PaymentRow | null> => {
    const [row] = await pool<PaymentRow[]>`
      select id, reference, amount, currency, state, error, url, method from test_gateway_payments
       where ${inScope(pool, scope)} and connection_id = ${connection_id}
         and ${pool(column)} = ${value}`;
    return row ?? null;
  };
  const make = async (
    request: ChargeRequest,
    state: GatewayPaymentState,
    url: string | null,
  ): Promise<GatewayPayment> => {
    await pool`
      insert into test_gateway_payments ${pool({
        ...here,
        id: `tgp_${ids.next('pay').slice(4)}`,
        token: request.token,
        reference: request.reference,
        amount: request.amount,
        currency: request.currency,
        state,
        error: state === 'failed' ? 'card_declined' : null,
        url,
        // On a page the customer pays with a card of their choice.
        method: request.saves_method ? (request.method ?? 'pm_test_success') : null,
      })} on conflict do nothing`;
    return seen((await find('token', request.token))!);
  };
  /** Money that has arrived does not become a declined payment. */
  const move = async (id: string, state: GatewayPaymentState, error: string | null) => {
    await pool`
      update test_gateway_payments set state = ${state}, error = ${error}
       where ${inScope(pool, scope)} and connection_id = ${connection_id} and id = ${id}
         and state <> 'succeeded'`;
  };

  return {
    provider: 'test',
    livemode: false,
    ensureCustomer: async () => null,
    async charge(request) {
      const outcome = testOutcome(request.method) ?? 'decline';
      const url = outcome === '3ds' ? payPage(request.reference) : null;
      const made = await make(request, STATE_OF_METHOD[outcome], url);
      if (outcome === 'timeout') throw new GatewayUnavailable('The test gateway does not answer.');
      return made;
    },
    createLink: (request) => make(request, 'pending', payPage(request.reference)),
    async findPayment(id) {
      const row = await find('id', id);
      return row && seen(row);
    },
    async findPaymentByToken(token) {
      const row = await find('token', token);
      return row && seen(row);
    },
    async cancelPayment(id) {
      await pool`
        update test_gateway_payments set state = 'cancelled'
         where ${inScope(pool, scope)} and connection_id = ${connection_id} and id = ${id}
           and state in ('pending', 'requires_action')`;
      return seen((await find('id', id))!);
    },
    async keepMethod(id) {
      assertTestMethod(id, 'gateway_method_id');
      return testMethod(id);
    },
    async forgetMethod() {},
    async refund(request) {
      await pool`
        insert into test_gateway_refunds ${pool({
          ...here,
          id: `tgr_${ids.next('refund').slice(7)}`,
          token: request.token,
          gateway_payment_id: request.gateway_payment_id,
          amount: request.amount,
          state: REFUSED_REFUND.test(request.amount) ? 'failed' : 'succeeded',
          error: REFUSED_REFUND.test(request.amount) ? 'refund_declined' : null,
        })} on conflict do nothing`;
      const [row] = await pool<RefundRow[]>`
        select id, gateway_payment_id, token, amount, state, error from test_gateway_refunds
         where ${inScope(pool, scope)} and connection_id = ${connection_id}
           and token = ${request.token}`;
      return seenRefund(row!);
    },
    async findRefund(id) {
      const [row] = await pool<RefundRow[]>`
        select id, gateway_payment_id, token, amount, state, error from test_gateway_refunds
         where ${inScope(pool, scope)} and connection_id = ${connection_id} and id = ${id}`;
      return row === undefined ? null : seenRefund(row);
    },
    readEvent(raw, headers, nowMs) {
      assertSigned(webhook_secret, raw, headers['x-test-signature'], nowMs);
      const parsed = TestEvent.safeParse(parseJson(raw));
      if (!parsed.success) throw badSignature();
      const { id, type, reference, gateway_refund_id, amount, ...of } = parsed.data;
      const event = { ...of, event_id: id, reference: reference ?? null };
      if (type === 'payment') return { ...event, kind: 'payment' };
      if (type === 'refund')
        return { ...event, kind: 'refund', gateway_refund_id: gateway_refund_id ?? '' };
      return { ...event, kind: 'dispute', dispute_id: id, amount: amount ?? '0' };
    },
    async setOutcome(id, outcome) {
      const row = await find('id', id);
      if (row === null) return [];
      const event = (kind: 'payment' | 'older'): GatewayEvent => ({
        event_id: `${id}-${kind}-${outcome}`,
        gateway_payment_id: id,
        reference: row.reference,
        kind: 'payment',
      });
      switch (outcome) {
        case 'decline':
          await move(id, 'failed', 'card_declined');
          return [event('payment')];
        case '3ds':
          await move(id, 'requires_action', null);
          return [event('payment')];
        case 'timeout':
          await move(id, 'succeeded', null);
          return [];
        case 'success':
        case 'late':
          await move(id, 'succeeded', null);
          return [event('payment')];
        case 'duplicate':
          await move(id, 'succeeded', null);
          return [event('payment'), event('payment')];
        case 'reordered':
          await move(id, 'succeeded', null);
          return [event('payment'), event('older')];
        case 'dispute':
          return [
            {
              event_id: `${id}-dispute`,
              gateway_payment_id: id,
              reference: row.reference,
              kind: 'dispute',
              dispute_id: `tgd_${id.slice(4)}`,
              amount: row.amount,
            },
          ];
      }
    },
  };
}

interface RefundRow {
  readonly id: string;
  readonly gateway_payment_id: string;
  readonly token: string;
  readonly amount: string;
  readonly state: GatewayRefund['state'];
  readonly error: string | null;
}

/** Refunds of amounts that end in .13 fail, to test the handling of failures. */
const REFUSED_REFUND = /\.13$/;

/** The token of a refund is our refund id. */
const seenRefund = (row: RefundRow): GatewayRefund => ({
  gateway_refund_id: row.id,
  gateway_payment_id: row.gateway_payment_id,
  reference: row.token,
  state: row.state,
  amount: row.amount,
  error: row.error,
});

const payPage = (reference: string): string => `https://test-gateway.invalid/pay/${reference}`;

function parseJson(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8')) as unknown;
  } catch {
    return null;
  }
}
