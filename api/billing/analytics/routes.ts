import { CostAnalytics, CostAnalyticsBody } from '../../../schemas/cost-analytics.ts';
import {
  CustomerUsage,
  CustomerUsageQuery,
  OneCustomerUsageQuery,
} from '../../../schemas/customer-usage.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { SubscriptionUsage, SubscriptionUsageBody } from '../../../schemas/subscription-usage.ts';
import {
  MetersValues,
  MetersValuesBody,
  MeterValues,
  MeterValuesBody,
} from '../../../schemas/usage.ts';
import {
  DetailedAnalyticsBody,
  UsageAnalytics,
  UsageAnalyticsBody,
} from '../../../schemas/usage-analytics.ts';
import { pageOf } from '../../../schemas/search.ts';
import { UsageRecord, UsageRecordSearch } from '../../../schemas/usage-record.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { route } from '../../conventions/route.ts';
import { costAnalytics } from './cost-analytics.ts';
import { customerUsage, usageCustomer } from './customer-usage.ts';
import { searchUsageRecords } from './usage-record-repository.ts';
import { usageAnalytics } from './usage-analytics.ts';
import { metersValues, meterValues } from './meter-values.ts';
import { subscriptionUsage } from './subscription-usage.ts';

/** Usage with its prices, entitlements and costs. */
export const analyticsRoutes = [
  route({
    method: 'POST',
    path: '/events/analytics',
    summary: 'Get usage and cost of one customer by usage line, group and window',
    permission: 'event:read',
    body: UsageAnalyticsBody,
    status: 200,
    answer: UsageAnalytics,
    handler: ({ deps, scope, body }) => usageAnalytics(deps, scope, body),
  }),
  route({
    method: 'POST',
    path: '/meter-usage/query',
    summary: 'Get values of one meter of a customer’s subscriptions',
    permission: 'event:read',
    body: MeterValuesBody,
    status: 200,
    answer: MeterValues,
    handler: ({ deps, scope, body }) => meterValues(deps, scope, body),
  }),
  route({
    method: 'POST',
    path: '/meter-usage/analytics',
    summary: 'Get values of several meters of a customer’s subscriptions',
    permission: 'event:read',
    body: MetersValuesBody,
    status: 200,
    answer: MetersValues,
    handler: ({ deps, scope, body }) => metersValues(deps, scope, body),
  }),
  route({
    method: 'POST',
    path: '/meter-usage/detailed-analytics',
    summary: 'Get usage and cost of one customer, as in /events/analytics',
    permission: 'event:read',
    body: DetailedAnalyticsBody,
    status: 200,
    answer: UsageAnalytics,
    handler: ({ deps, scope, body }) => usageAnalytics(deps, scope, body),
  }),
  route({
    method: 'GET',
    path: '/customers/usage',
    summary: 'Get the usage of a customer’s entitlements, by id or external id',
    permission: 'customer:read',
    query: CustomerUsageQuery,
    status: 200,
    answer: CustomerUsage,
    handler: async ({ deps, scope, query }) =>
      customerUsage(deps, scope, await usageCustomer(deps, scope, query), query),
  }),
  route({
    method: 'GET',
    path: '/customers/{id}/usage',
    summary: 'Get the usage of a customer’s entitlements',
    permission: 'customer:read',
    params: IdParams,
    query: OneCustomerUsageQuery,
    status: 200,
    answer: CustomerUsage,
    handler: async ({ deps, scope, params, query }) =>
      customerUsage(deps, scope, await getCustomer(deps.pool, scope, params.id), query),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/usage',
    summary: 'Get the usage of a subscription and its charges',
    permission: 'subscription:read',
    body: SubscriptionUsageBody,
    status: 200,
    answer: SubscriptionUsage,
    handler: ({ deps, scope, body }) => subscriptionUsage(deps, scope, body),
  }),
  route({
    method: 'POST',
    path: '/usage-records/search',
    summary: 'Search the billed usage of subscriptions by period',
    permission: 'invoice:read',
    body: UsageRecordSearch.body,
    status: 200,
    answer: pageOf(UsageRecord),
    handler: ({ deps, scope, body }) => searchUsageRecords(deps.pool, scope, body),
  }),
  ...(['/costs/analytics', '/costs/analytics-v2'] as const).map((path) =>
    route({
      method: 'POST',
      path,
      summary: 'Cost, revenue and margin of usage',
      permission: 'costsheet:read',
      body: CostAnalyticsBody,
      status: 200,
      answer: CostAnalytics,
      handler: ({ deps, scope, body }) => costAnalytics(deps, scope, body),
    }),
  ),
];
