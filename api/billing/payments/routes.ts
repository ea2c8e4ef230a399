import { IdParams, Message } from '../../../schemas/primitives.ts';
import {
  CreatePaymentBody,
  Payment,
  PaymentSearch,
  UpdatePaymentBody,
} from '../../../schemas/payment.ts';
import { GatewayEventRecord, GatewayEventSearch } from '../../../schemas/gateway-event.ts';
import { pageOf } from '../../../schemas/search.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { runCommand } from '../../conventions/command.ts';
import { route } from '../../conventions/route.ts';
import { getPayment, searchPayments, type PaymentFilter } from '../records/payment-repository.ts';
import { paymentAnswer, paymentAnswers } from './answers.ts';
import { changePayment, deletePayment, processPayment } from './change-payment.ts';
import { cancelAtGateway } from './close-payment.ts';
import { createPayment } from './create-payment.ts';
import { syncPayment } from './dispatch-payment.ts';
import { searchGatewayEvents } from './gateway-event-repository.ts';

async function listPayments(db: Db, scope: Scope, filter: PaymentFilter) {
  const page = await searchPayments(db, scope, filter);
  return { ...page, items: await paymentAnswers(db, scope, page.items) };
}

export const paymentRoutes = [
  route({
    method: 'POST',
    path: '/payments',
    summary: 'Record a payment',
    permission: 'payment:write',
    ownsTransactions: true,
    body: CreatePaymentBody,
    status: 201,
    answer: Payment,
    async handler(call) {
      const { payment, isRepeat } = await runCommand(call.deps, 'payment', () =>
        Promise.resolve((tx) => createPayment(tx, call.deps, call, call.body)),
      );
      if (isRepeat) call.setHeader('idempotent-replayed', 'true');
      const isNew = payment.connection_id !== null && payment.gateway_payment_id === null;
      const made = isNew ? await syncPayment(call.deps, call, payment.id) : payment;
      return await paymentAnswer(call.deps.pool, call.scope, made);
    },
  }),
  route({
    method: 'GET',
    path: '/payments',
    summary: 'List payments',
    permission: 'payment:read',
    query: PaymentSearch.query,
    status: 200,
    answer: pageOf(Payment),
    handler: ({ deps, scope, query }) => listPayments(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/payments/search',
    summary: 'Search payments',
    permission: 'payment:read',
    body: PaymentSearch.body,
    status: 200,
    answer: pageOf(Payment),
    handler: ({ deps, scope, body }) => listPayments(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/payments/{id}',
    summary: 'Get a payment with its attempts',
    permission: 'payment:read',
    params: IdParams,
    status: 200,
    answer: Payment,
    handler: async ({ deps, scope, params }) =>
      paymentAnswer(deps.pool, scope, await getPayment(deps.pool, scope, params.id)),
  }),
  route({
    method: 'POST',
    path: '/payments/gateway-events/search',
    summary: 'Search what gateways sent about payments, with the effect of each event',
    permission: 'payment:read',
    body: GatewayEventSearch.body,
    status: 200,
    answer: pageOf(GatewayEventRecord),
    handler: ({ deps, scope, body }) => searchGatewayEvents(deps.pool, scope, body),
  }),
  route({
    method: 'PUT',
    path: '/payments/{id}',
    summary: 'Update a payment',
    permission: 'payment:write',
    params: IdParams,
    body: UpdatePaymentBody,
    status: 200,
    answer: Payment,
    async handler(call) {
      const payment = await call.deps.pool.begin((tx) =>
        changePayment(tx, call.deps, call, call.params.id, call.body),
      );
      return await paymentAnswer(call.deps.pool, call.scope, payment);
    },
  }),
  route({
    method: 'DELETE',
    path: '/payments/{id}',
    summary: 'Delete a payment that has not settled',
    permission: 'payment:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      await cancelAtGateway(call.deps, call, call.params.id);
      await call.deps.pool.begin((tx) => deletePayment(tx, call.deps, call, call.params.id));
      return { message: 'payment deleted successfully' };
    },
  }),
  route({
    method: 'POST',
    path: '/payments/{id}/process',
    summary: 'Process a recorded payment',
    permission: 'payment:write',
    ownsTransactions: true,
    params: IdParams,
    status: 200,
    answer: Payment,
    async handler(call) {
      const payment = await runCommand(call.deps, 'payment', () =>
        Promise.resolve((tx) => processPayment(tx, call.deps, call, call.params.id)),
      );
      const made = await syncPayment(call.deps, call, payment.id);
      return await paymentAnswer(call.deps.pool, call.scope, made);
    },
  }),
];
