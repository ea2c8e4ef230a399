import type { CheckoutGates } from '../../deps.ts';
import { checkoutAnswer } from './checkout-answer.ts';
import { completeGate } from './complete-gate.ts';
import { discardGate } from './discard-gate.ts';
import { storeSession } from './store-session.ts';
import { syncCheckout } from './sync-checkout.ts';

/** The checkout sessions of all actions. Payments reach them through the dependencies of commands. */
export const checkoutGates: CheckoutGates = {
  open: storeSession,
  async offer(deps, caller, sessionId) {
    const session = await syncCheckout(deps, caller, sessionId);
    return await checkoutAnswer(deps.pool, caller.scope, session, deps.clock.now());
  },
  complete: completeGate,
  discard: (tx, deps, caller, session, gated) =>
    discardGate(tx, deps, caller, session, gated, 'The payment of the checkout session failed.'),
};
