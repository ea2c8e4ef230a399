import { isoTime } from '../../../platform/clock.ts';
import {
  DashboardSummary,
  DashboardSummaryBody,
  RevenueDashboard,
  RevenueDashboardBody,
  Revenues,
  RevenuesBody,
  WalletsAtRisk,
  WINDOW_COUNT_DEFAULT,
} from '../../../schemas/dashboard.ts';
import { route } from '../../conventions/route.ts';
import { revenueDashboard, revenues } from './revenue.ts';
import { dashboardSummary } from './summary.ts';
import { walletsAtRisk } from './wallets-repository.ts';

export const dashboardRoutes = [
  route({
    method: 'POST',
    path: '/dashboard/revenue-dashboard',
    summary: 'Get the issued revenue of a period by customer',
    permission: 'invoice:read',
    body: RevenueDashboardBody,
    status: 200,
    answer: RevenueDashboard,
    handler: ({ deps, scope, body }) => revenueDashboard(deps.pool, scope, body),
  }),
  route({
    method: 'POST',
    path: '/dashboard/revenues',
    summary: 'Get revenue by month, new subscriptions and invoice payments',
    permission: 'invoice:read',
    body: RevenuesBody,
    status: 200,
    answer: Revenues,
    handler: ({ deps, scope, body }) =>
      revenues(
        deps.pool,
        scope,
        isoTime(deps.clock.now()),
        body.revenue_trend?.window_count ?? WINDOW_COUNT_DEFAULT,
      ),
  }),
  route({
    method: 'POST',
    path: '/dashboard/summary',
    summary: 'Get recurring revenue, and what was invoiced, collected, open and overdue',
    permission: 'invoice:read',
    body: DashboardSummaryBody,
    status: 200,
    answer: DashboardSummary,
    handler: ({ deps, scope, body }) =>
      dashboardSummary(deps.pool, scope, body, isoTime(deps.clock.now())),
  }),
  route({
    method: 'POST',
    path: '/dashboard/wallets-at-risk',
    summary: 'Get the balances of active wallets whose alert is raised, by currency',
    permission: 'wallet:read',
    status: 200,
    answer: WalletsAtRisk,
    handler: async ({ deps, scope }) => ({ currencies: await walletsAtRisk(deps.pool, scope) }),
  }),
];
