import { invalidOperation } from '../../../domain/errors.ts';
import { isTerminalCheckout } from '../../../domain/states/checkout.ts';
import { CheckoutSession, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { route } from '../../conventions/route.ts';
import { getCheckout } from '../records/checkout-repository.ts';
import { runGatedCommand } from '../records/gated-command.ts';
import { checkoutAnswer } from './checkout-answer.ts';
import { checkoutRequest, createCheckout } from './create-checkout.ts';
import { CHANGE_ACTIONS, openChange } from './open-change.ts';
import { expireCheckout } from './expire-checkout.ts';
import { readSession } from './read-session.ts';
import { syncCheckout } from './sync-checkout.ts';

export const checkoutRoutes = [
  route({
    method: 'POST',
    path: '/checkout/sessions',
    summary: 'Open a payment page for an invoice, a new subscription or a change of one',
    permission: 'checkoutsession:write',
    ownsTransactions: true,
    body: CreateCheckoutBody,
    status: 201,
    answer: CheckoutSession,
    async handler(call) {
      if (CHANGE_ACTIONS.some((action) => action === call.body.action))
        return await openChange(call.deps, call, call.body);
      const { id } = await runGatedCommand(
        call.deps,
        call,
        'checkout session',
        checkoutRequest(call.body),
        (opened) => opened.id,
        () => Promise.resolve((tx) => createCheckout(tx, call.deps, call, call.body)),
      );
      const session = await syncCheckout(call.deps, call, id);
      return await checkoutAnswer(call.deps, call.scope, session);
    },
  }),
  route({
    method: 'GET',
    path: '/checkout/sessions/{id}',
    summary: 'Get a checkout session; an active one is first updated from the gateway',
    permission: 'checkoutsession:read',
    params: IdParams,
    status: 200,
    answer: CheckoutSession,
    async handler(call) {
      const session = await readSession(call.deps, call, call.params.id);
      return await checkoutAnswer(call.deps, call.scope, session);
    },
  }),
  route({
    method: 'POST',
    path: '/checkout/sessions/{id}/cancel',
    summary: 'Cancel a checkout session',
    permission: 'checkoutsession:write',
    ownsTransactions: true,
    params: IdParams,
    status: 200,
    answer: CheckoutSession,
    async handler(call) {
      const session = await expireCheckout(call.deps, call, call.params.id, 'cancel');
      return await checkoutAnswer(call.deps, call.scope, session);
    },
  }),
  route({
    method: 'DELETE',
    path: '/checkout/sessions/{id}',
    summary: 'Cancel an active checkout session',
    permission: 'checkoutsession:write',
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      const session = await getCheckout(call.deps.pool, call.scope, call.params.id);
      if (isTerminalCheckout(session.checkout_status))
        throw invalidOperation(
          `The checkout session is ${session.checkout_status}.`,
          'checkout_status',
        );
      await expireCheckout(call.deps, call, session.id, 'cancel');
    },
  }),
];
