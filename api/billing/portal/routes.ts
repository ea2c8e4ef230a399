import { z } from 'zod';
import { CostAnalytics } from '../../../schemas/cost-analytics.ts';
import { Customer, ExternalIdParams, UpdateCustomerBody } from '../../../schemas/customer.ts';
import { CustomerInvoiceSummary } from '../../../schemas/customer-view.ts';
import { CustomerUsage, OneCustomerUsageQuery } from '../../../schemas/customer-usage.ts';
import { Invoice } from '../../../schemas/invoice.ts';
import {
  PortalAnalyticsBody,
  OpenPortalSession,
  PortalCostAnalyticsBody,
  PortalPageBody,
  PortalSession,
  PortalSessionSearch,
  UpdatePortalInfoBody,
} from '../../../schemas/portal.ts';
import { isoTime } from '../../../platform/clock.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { Setting } from '../../../schemas/settings/settings.ts';
import { Subscription } from '../../../schemas/subscription-answers.ts';
import { UsageAnalytics } from '../../../schemas/usage-analytics.ts';
import {
  WalletBalance,
  WalletTransaction,
  WalletTransactionSearch,
} from '../../../schemas/wallet.ts';
import { findSetting } from '../../../postgres/tables/settings.ts';
import { getCustomer, getCustomerByExternalId } from '../../customers/customers/repository.ts';
import { updateCustomer } from '../../customers/customers/update-customer.ts';
import { route } from '../../conventions/route.ts';
import { settingAnswer } from '../../tenancy/settings/setting-answer.ts';
import { costAnalytics } from '../analytics/cost-analytics.ts';
import { customerUsage } from '../analytics/customer-usage.ts';
import { usageAnalytics } from '../analytics/usage-analytics.ts';
import { balanceAnswers } from '../balances/real-time-balance.ts';
import { transactionAnswer } from '../credits/wallet-answers.ts';
import { searchTransactions } from '../credits/wallet-transaction-repository.ts';
import { customerInvoiceSummary } from '../customer-views/invoice-summary.ts';
import { portalAddress } from './embedding.ts';
import { endPortalSession, endSessionsOf, listOpenSessions } from './session-repository.ts';
import { assertCostsShown } from './shown-costs.ts';
import {
  customerOf,
  listOwnInvoices,
  listOwnSubscriptions,
  getOwnWallet,
  listOwnWallets,
  previewOwnInvoice,
  readOwnInvoice,
  readOwnSubscription,
  withoutMetadata,
  portalCustomer,
} from './own-records.ts';

export const portalRoutes = [
  route({
    method: 'GET',
    path: '/customers/portal/{external_id}',
    summary: 'Open a portal session for a customer',
    permission: 'customer:write',
    secretAnswer: true,
    params: ExternalIdParams,
    status: 200,
    answer: PortalSession,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { external_id } = call.params;
        const customer = await getCustomerByExternalId(tx, call.scope, external_id);
        const session = await call.deps.portalSessions.open(tx, call, customer.id);
        const address = await portalAddress(tx, call.scope, call.deps.publicUrl);
        // The token follows the #, where no server and no log sees it (tenancy 15.1).
        return { url: `${address}#token=${session.token}`, ...session };
      }),
  }),
  route({
    method: 'GET',
    path: '/portal/sessions',
    summary: 'List open portal sessions',
    permission: 'customer:read',
    query: PortalSessionSearch.query,
    status: 200,
    answer: pageOf(OpenPortalSession),
    handler: ({ deps, scope, query }) =>
      listOpenSessions(deps.pool, scope, query, isoTime(deps.clock.now())),
  }),
  route({
    method: 'POST',
    path: '/portal/sessions/search',
    summary: 'Search open portal sessions',
    permission: 'customer:read',
    body: PortalSessionSearch.body,
    status: 200,
    answer: pageOf(OpenPortalSession),
    handler: ({ deps, scope, body }) =>
      listOpenSessions(deps.pool, scope, body, isoTime(deps.clock.now())),
  }),
  route({
    method: 'DELETE',
    path: '/portal/sessions/{id}',
    summary: 'End a portal session',
    permission: 'customer:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin((tx) => endPortalSession(tx, call.deps, call, call.params.id)),
  }),
  route({
    method: 'DELETE',
    path: '/customers/{id}/portal-sessions',
    summary: 'End all portal sessions of a customer',
    permission: 'customer:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { id } = await getCustomer(tx, call.scope, call.params.id);
        await endSessionsOf(tx, call.deps, call, id);
      }),
  }),
  route({
    method: 'POST',
    path: '/customer/portal/logout',
    summary: 'End the session',
    permission: 'portal',
    status: 200,
    answer: Message,
    async handler(call) {
      await call.deps.pool.begin((tx) =>
        endPortalSession(tx, call.deps, call, customerOf(call.identity).session_id),
      );
      return { message: 'Logged out' };
    },
  }),
  route({
    method: 'GET',
    path: '/customer/portal/info',
    summary: 'Get the customer of the session',
    permission: 'portal',
    status: 200,
    answer: Customer,
    async handler(call) {
      const { scope, customer_id } = portalCustomer(call);
      return withoutMetadata(await getCustomer(call.deps.pool, scope, customer_id));
    },
  }),
  route({
    method: 'PUT',
    path: '/customer/portal/info',
    summary: 'Update the contact details of the customer of the session',
    permission: 'portal',
    body: UpdatePortalInfoBody,
    status: 200,
    answer: Customer,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { customer_id: id } = portalCustomer(call);
        const changes = UpdateCustomerBody.parse(call.body);
        return withoutMetadata(await updateCustomer(tx, call.deps, call, { id }, changes));
      }),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/config',
    summary: 'Get the settings of the portal',
    permission: 'portal',
    status: 200,
    answer: Setting,
    async handler({ deps, scope }) {
      const row = await findSetting(deps.pool, scope, 'customer_portal_config');
      return settingAnswer(scope, 'customer_portal_config', row);
    },
  }),
  route({
    method: 'POST',
    path: '/customer/portal/subscriptions',
    summary: 'List the customer’s subscriptions',
    permission: 'portal',
    ownsTransactions: true,
    body: PortalPageBody,
    status: 200,
    answer: pageOf(Subscription),
    handler: (call) => listOwnSubscriptions(call.deps, portalCustomer(call), call.body),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/subscriptions/{id}',
    summary: 'Get one of the customer’s subscriptions',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: Subscription,
    handler: (call) => readOwnSubscription(call.deps, portalCustomer(call), call.params.id),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/subscriptions/{id}/next-invoice',
    summary: 'Preview the next invoice of one of the customer’s subscriptions',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: Invoice,
    handler: (call) => previewOwnInvoice(call.deps, call, portalCustomer(call), call.params.id),
  }),
  route({
    method: 'POST',
    path: '/customer/portal/invoices',
    summary: 'List the customer’s invoices',
    permission: 'portal',
    ownsTransactions: true,
    body: PortalPageBody,
    status: 200,
    answer: pageOf(Invoice),
    handler: (call) => listOwnInvoices(call.deps, portalCustomer(call), call.body),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/invoices/summary',
    summary: 'Get the billed and open amounts of the customer, by currency',
    permission: 'portal',
    status: 200,
    answer: CustomerInvoiceSummary,
    async handler(call) {
      const { scope, customer_id } = portalCustomer(call);
      return await customerInvoiceSummary(call.deps, scope, customer_id);
    },
  }),
  route({
    method: 'GET',
    path: '/customer/portal/invoices/{id}',
    summary: 'Get one of the customer’s invoices',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: Invoice,
    handler: (call) => readOwnInvoice(call.deps, portalCustomer(call), call.params.id),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/usage',
    summary: 'Get the usage of the customer’s entitlements',
    permission: 'portal',
    query: OneCustomerUsageQuery,
    status: 200,
    answer: CustomerUsage,
    async handler(call) {
      const { scope, customer_id } = portalCustomer(call);
      const customer = await getCustomer(call.deps.pool, scope, customer_id);
      return withoutMetadata(await customerUsage(call.deps, scope, customer, call.query));
    },
  }),
  route({
    method: 'POST',
    path: '/customer/portal/analytics/revenue',
    summary: 'Get the customer’s usage and its charges',
    permission: 'portal',
    ownsTransactions: true,
    body: PortalAnalyticsBody,
    status: 200,
    answer: UsageAnalytics,
    async handler(call) {
      const { scope, customer_id } = portalCustomer(call);
      const { external_id } = await getCustomer(call.deps.pool, scope, customer_id);
      const asked = { ...call.body, external_customer_id: external_id };
      return withoutMetadata(await usageAnalytics(call.deps, scope, asked));
    },
  }),
  route({
    method: 'POST',
    path: '/customer/portal/analytics/cost',
    summary: 'Get the tenant’s cost of the customer’s usage, if the portal’s settings show it',
    permission: 'portal',
    ownsTransactions: true,
    body: PortalCostAnalyticsBody,
    status: 200,
    answer: CostAnalytics,
    async handler(call) {
      const { scope, customer_id } = portalCustomer(call);
      await assertCostsShown(call.deps.pool, scope);
      const { external_id } = await getCustomer(call.deps.pool, scope, customer_id);
      const asked = { ...call.body, external_customer_id: external_id };
      return withoutMetadata(await costAnalytics(call.deps, scope, asked));
    },
  }),
  route({
    method: 'POST',
    path: '/customer/portal/wallets',
    summary: 'List the customer’s wallets',
    permission: 'portal',
    ownsTransactions: true,
    body: PortalPageBody.nullish(),
    status: 200,
    // A plain array.
    answer: z.array(WalletBalance),
    handler: (call) => listOwnWallets(call.deps, portalCustomer(call)),
  }),
  route({
    method: 'GET',
    path: '/customer/portal/wallets/{id}',
    summary: 'One of the customer’s wallets with its balance',
    permission: 'portal',
    params: IdParams,
    status: 200,
    answer: WalletBalance,
    async handler(call) {
      const { deps, scope, params } = call;
      const wallet = await getOwnWallet(deps.pool, portalCustomer(call), params.id);
      const [answer] = await balanceAnswers(deps, scope, [wallet], new Set());
      return withoutMetadata(answer!);
    },
  }),
  route({
    method: 'GET',
    path: '/customer/portal/wallets/{id}/transactions',
    summary: 'The transactions of one of the customer’s wallets',
    permission: 'portal',
    params: IdParams,
    query: WalletTransactionSearch.query,
    status: 200,
    answer: pageOf(WalletTransaction),
    async handler(call) {
      const { deps, scope, params, query } = call;
      const { id } = await getOwnWallet(deps.pool, portalCustomer(call), params.id);
      const page = await searchTransactions(deps.pool, scope, { ...query, id });
      const items = page.items.map(transactionAnswer);
      return withoutMetadata({ ...page, items });
    },
  }),
];
