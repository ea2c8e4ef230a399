import {
  CheckoutOutcomeBody,
  CheckoutPage,
  CheckoutPageLink,
} from '../../../schemas/checkout-page.ts';
import { route } from '../../conventions/route.ts';
import { checkoutPage } from './page.ts';
import { openCheckoutLink } from './page-link.ts';
import { readSession } from './read-session.ts';
import { tryOutcome } from './try-outcome.ts';

/** Requests of the payment page. The secret is in the body: it is in no address and no log. */
export const checkoutPageRoutes = [
  route({
    method: 'POST',
    path: '/checkout/pages/open',
    summary: 'Get the content of a payment page',
    permission: 'public',
    secretAnswer: true,
    ownsTransactions: true,
    body: CheckoutPageLink,
    status: 200,
    answer: CheckoutPage,
    async handler(call) {
      const { deps, payer, session } = await openCheckoutLink(call.deps, call.body);
      return await checkoutPage(deps, payer, await readSession(deps, payer, session.id));
    },
  }),
  route({
    method: 'POST',
    path: '/checkout/pages/outcome',
    summary: 'Choose the outcome of a payment on the page of the test gateway',
    permission: 'public',
    secretAnswer: true,
    ownsTransactions: true,
    body: CheckoutOutcomeBody,
    status: 200,
    answer: CheckoutPage,
    async handler(call) {
      const { deps, payer, session } = await openCheckoutLink(call.deps, call.body);
      const current = await readSession(deps, payer, session.id);
      const tried = await tryOutcome(deps, payer, current, call.body.outcome);
      return await checkoutPage(deps, payer, tried);
    },
  }),
];
