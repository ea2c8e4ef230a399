import * as z from 'zod';
import {
  PortalAutoTopUpBody,
  PortalIntegrations,
  PortalPayBody,
  PortalPayment,
  PortalPaymentMethod,
  PortalSaveMethodBody,
  PortalTopUp,
  PortalTopUpBody,
} from '../../../schemas/portal-payments.ts';
import { CheckoutSession } from '../../../schemas/checkout.ts';
import { notFound } from '../../../domain/errors.ts';
import { type PaymentMethod, PaymentMethodSearch } from '../../../schemas/payment-method.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { UpdateWalletBody } from '../../../schemas/wallet-requests.ts';
import { WalletBalance } from '../../../schemas/wallet.ts';
import { above } from '../../conventions/bulk-error.ts';
import { runCommand } from '../../conventions/command.ts';
import { route } from '../../conventions/route.ts';
import { balanceAnswers } from '../balances/real-time-balance.ts';
import { transactionAnswer } from '../credits/wallet-answers.ts';
import { connectedProviders } from '../gateways/connection-repository.ts';
import {
  deletePaymentMethod,
  describeMethod,
  savePaymentMethod,
  updatePaymentMethod,
} from '../payment-methods/save-payment-method.ts';
import { getCheckout } from '../records/checkout-repository.ts';
import { searchPaymentMethods } from '../records/payment-method-repository.ts';
import { updateWallet } from '../wallets/update-wallet.ts';
import { getOwnWallet, portalCustomer, withoutMetadata } from './own-records.ts';
import { offerPurchase } from '../wallets/top-up.ts';
import { payOwnInvoice, shownSession, topUpOwnWallet } from './pay.ts';

const shownMethod = (method: PaymentMethod): PortalPaymentMethod =>
  PortalPaymentMethod.parse(method);

/** What customers do with money in the portal (interface, rule 16). */
export const portalPaymentRoutes = [
  route({
    method: 'POST',
    path: '/customer/portal/invoices/{id}/pay',
    summary: 'Pay one of the customer’s invoices',
    permission: 'portal',
    ownsTransactions: true,
    params: IdParams,
    body: PortalPayBody,
    status: 200,
    answer: PortalPayment,
    handler: (call) =>
      payOwnInvoice(call.deps, call, portalCustomer(call), call.params.id, call.body),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/checkout/{id}',
    summary: 'Get one of the customer’s checkout sessions',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: CheckoutSession,
    async handler(call) {
      const { deps, scope, params } = call;
      const session = await getCheckout(deps.pool, scope, params.id);
      if (session.customer_id !== portalCustomer(call).customer_id)
        throw notFound('Checkout session', params.id);
      return shownSession(await deps.checkoutGates.offer(deps, call, session.id));
    },
  }),
  route({
    method: 'POST',
    path: '/customer/portal/wallets/{id}/top-up',
    summary: 'Buy credits for one of the customer’s wallets',
    permission: 'portal',
    ownsTransactions: true,
    params: IdParams,
    body: PortalTopUpBody,
    status: 200,
    answer: PortalTopUp,
    async handler(call) {
      const { deps, params, body } = call;
      const done = await topUpOwnWallet(deps, call, portalCustomer(call), params.id, body);
      const { transaction, session } = await offerPurchase(deps, call, done);
      return {
        wallet_transaction: withoutMetadata(transactionAnswer(transaction)),
        checkout_session: session && shownSession(session),
      };
    },
  }),
  route({
    method: 'PUT',
    path: '/customer/portal/wallets/{id}/auto-topup',
    summary: 'Set the automatic top-up of one of the customer’s wallets',
    permission: 'portal',
    params: IdParams,
    body: PortalAutoTopUpBody,
    status: 200,
    answer: WalletBalance,
    async handler(call) {
      const { deps, scope, params, body } = call;
      const { id } = await getOwnWallet(deps.pool, portalCustomer(call), params.id);
      const auto_topup = { ...body, invoicing: true };
      const wallet = await deps.pool
        .begin((tx) => updateWallet(tx, deps, call, id, UpdateWalletBody.parse({ auto_topup })))
        .catch((error: unknown) => {
          throw above(error, 'auto_topup');
        });
      const [answer] = await balanceAnswers(deps, scope, [wallet], new Set());
      return withoutMetadata(answer!);
    },
  }),
  route({
    method: 'GET',
    path: '/customer/portal/payment-methods',
    summary: 'List the customer’s payment methods',
    permission: 'portal',
    query: PaymentMethodSearch.query,
    status: 200,
    answer: pageOf(PortalPaymentMethod),
    async handler(call) {
      const { scope, customer_id } = portalCustomer(call);
      const page = await searchPaymentMethods(call.deps.pool, scope, customer_id, call.query);
      return { ...page, items: page.items.map(shownMethod) };
    },
  }),
  route({
    method: 'POST',
    path: '/customer/portal/payment-methods',
    summary: 'Save a payment method of the customer',
    permission: 'portal',
    ownsTransactions: true,
    body: PortalSaveMethodBody,
    status: 201,
    answer: PortalPaymentMethod,
    async handler(call) {
      const { deps, scope, body } = call;
      const { customer_id } = portalCustomer(call);
      const wanted = {
        gateway_method_id: body.gateway_method_id,
        payment_gateway: body.payment_provider ?? null,
        is_default: body.is_default ?? null,
        metadata: {},
      };
      const saved = await runCommand(deps, 'payment method', async () => {
        const described = await describeMethod(deps, call, customer_id, wanted, 'payment_provider');
        return (tx) => savePaymentMethod(tx, deps, call, customer_id, described, wanted);
      });
      return shownMethod(saved);
    },
  }),
  route({
    method: 'PUT',
    path: '/customer/portal/payment-methods/{id}',
    summary: 'Make a payment method the customer’s default',
    permission: 'portal',
    params: IdParams,
    body: z.object({ is_default: z.boolean() }),
    status: 200,
    answer: PortalPaymentMethod,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { customer_id } = portalCustomer(call);
        const { id } = call.params;
        return shownMethod(
          await updatePaymentMethod(tx, call.deps, call, customer_id, id, {
            ...call.body,
            metadata: undefined,
          }),
        );
      }),
  }),
  route({
    method: 'DELETE',
    path: '/customer/portal/payment-methods/{id}',
    summary: 'Delete one of the customer’s payment methods',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      const { customer_id } = portalCustomer(call);
      await deletePaymentMethod(call.deps, call, customer_id, call.params.id);
      return { message: 'payment method deleted successfully' };
    },
  }),
  route({
    method: 'GET',
    path: '/customer/portal/integrations',
    summary: 'List the gateways by which the customer can pay',
    permission: 'portal',
    status: 200,
    answer: PortalIntegrations,
    async handler({ deps, scope }) {
      const providers = await connectedProviders(deps.pool, scope);
      return {
        items: providers.map((provider) => ({ provider, livemode: provider !== 'test' })),
      };
    },
  }),
];
