import { z } from 'zod';
import {
  CreditGrantApplication,
  CustomerInvoiceSummary,
  CustomerWalletsQuery,
} from '../../../schemas/customer-view.ts';
import { ExternalIdParams } from '../../../schemas/customer.ts';
import {
  CustomerEntitlements,
  CustomerEntitlementsQuery,
} from '../../../schemas/granted-entitlement.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { expandQuery, pageOf, PageQuery } from '../../../schemas/search.ts';
import { Subscription } from '../../../schemas/subscription-answers.ts';
import { SubscriptionSearch } from '../../../schemas/subscription.ts';
import { Wallet, WALLET_EXPANDS, WalletBalance } from '../../../schemas/wallet.ts';
import { upcomingApplications } from '../../catalog/credit-grants/upcoming-applications.ts';
import { customerEntitlements } from '../granted-entitlements/granted-features.ts';
import { route } from '../../conventions/route.ts';
import { listSubscriptions } from '../subscriptions/read-subscriptions.ts';
import { pageOfList } from '../../conventions/page-of-list.ts';
import { maxAgeSeconds } from '../balances/max-age.ts';
import { balanceAnswers } from '../balances/real-time-balance.ts';
import { walletAnswers } from '../credits/wallet-answers.ts';
import { findWalletsOfCustomer } from '../credits/wallet-repository.ts';
import { customerInvoiceSummary } from './invoice-summary.ts';
import { getCustomer, getCustomerByExternalId } from '../../customers/customers/repository.ts';

/** A plain array: the customer's wallets that are not closed. */
const Wallets = z.array(Wallet);
/** With `include_real_time_balance` each has its balance at this moment. */
const WalletsWithBalances = z.array(
  z.union([WalletBalance, Wallet.extend({ is_cached_fallback: z.boolean() })]),
);

/** Records of a customer. Each route returns 404 if the customer does not exist. */
export const customerViewRoutes = [
  route({
    method: 'GET',
    path: '/customers/{id}/entitlements',
    summary: 'Get the entitlements of a customer over all subscriptions',
    permission: 'customer:read',
    params: IdParams,
    query: CustomerEntitlementsQuery,
    status: 200,
    answer: CustomerEntitlements,
    async handler({ deps, scope, params, query }) {
      const { id } = await getCustomer(deps.pool, scope, params.id);
      return await customerEntitlements(deps, scope, id, query);
    },
  }),
  route({
    method: 'GET',
    path: '/customers/external/{external_id}/entitlements',
    summary: 'Get the entitlements of a customer, by external id',
    permission: 'customer:read',
    params: ExternalIdParams,
    query: CustomerEntitlementsQuery,
    status: 200,
    answer: CustomerEntitlements,
    async handler({ deps, scope, params, query }) {
      const { id } = await getCustomerByExternalId(deps.pool, scope, params.external_id);
      return await customerEntitlements(deps, scope, id, query);
    },
  }),
  route({
    method: 'GET',
    path: '/customers/external/{external_id}/subscriptions',
    summary: "List a customer's subscriptions, the customer named by its external id",
    permission: 'customer:read',
    params: ExternalIdParams,
    query: SubscriptionSearch.query,
    status: 200,
    answer: pageOf(Subscription),
    async handler({ deps, scope, params, query }) {
      const { id } = await getCustomerByExternalId(deps.pool, scope, params.external_id);
      const page = await listSubscriptions(deps, scope, { ...query, customer_id: id });
      if (query.search.expand.has('plan')) return page;
      return { ...page, items: page.items.map((item) => ({ ...item, plan: null })) };
    },
  }),
  route({
    method: 'GET',
    path: '/customers/{id}/grants/upcoming',
    summary: 'List upcoming credits of the grants of a customer’s subscriptions, soonest first',
    permission: 'customer:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(CreditGrantApplication),
    async handler({ deps, scope, params, query }) {
      const { id } = await getCustomer(deps.pool, scope, params.id);
      return pageOfList(await upcomingApplications(deps, scope, { customer_id: id }), query);
    },
  }),
  route({
    method: 'GET',
    path: '/customers/{id}/invoices/summary',
    summary: 'Get billed and open amounts of a customer, by currency',
    permission: 'customer:read',
    params: IdParams,
    status: 200,
    answer: CustomerInvoiceSummary,
    handler: ({ deps, scope, params }) => customerInvoiceSummary(deps, scope, params.id),
  }),
  route({
    method: 'GET',
    path: '/customers/{id}/wallets',
    summary: "List a customer's wallets",
    permission: 'customer:read',
    params: IdParams,
    query: expandQuery(WALLET_EXPANDS),
    status: 200,
    answer: Wallets,
    async handler({ deps, scope, params, query }) {
      const { id } = await getCustomer(deps.pool, scope, params.id);
      const rows = await findWalletsOfCustomer(deps.pool, scope, id);
      return await walletAnswers(deps.pool, scope, rows, query.search.expand);
    },
  }),
  route({
    method: 'GET',
    path: '/customers/wallets',
    summary: "List a customer's wallets, the customer named by id or by external id",
    permission: 'customer:read',
    query: CustomerWalletsQuery,
    status: 200,
    answer: WalletsWithBalances,
    async handler({ deps, scope, query, headers }) {
      const { id } = await (query.id === undefined
        ? getCustomerByExternalId(deps.pool, scope, query.lookup_key!)
        : getCustomer(deps.pool, scope, query.id));
      const rows = await findWalletsOfCustomer(deps.pool, scope, id);
      const expand = new Set((query.expand ?? '').split(',').map((name) => name.trim()));
      if (query.include_real_time_balance !== 'true')
        return (await walletAnswers(deps.pool, scope, rows, expand)).map((wallet) => ({
          ...wallet,
          is_cached_fallback: false,
        }));
      return await balanceAnswers(deps, scope, rows, expand, maxAgeSeconds(headers));
    },
  }),
];
