import { invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { CreditGrant } from '../../../schemas/credit-grant.ts';
import {
  ClonePlanBody,
  CreatePlanBody,
  Plan,
  PlanEntitlements,
  PlanQuery,
  PlanSearch,
  UpdatePlanBody,
} from '../../../schemas/plan.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf, PageQuery, type Search } from '../../../schemas/search.ts';
import { pageOfCreditGrants } from '../credit-grants/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { entitlementAnswers, pageOfEntitlements } from '../entitlements/repository.ts';
import { changed, newRecord, sent, sentOr, type Caller } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { clonePlan } from './clone-plan.ts';
import {
  getPlanRow,
  insertPlan,
  lockPlan,
  searchPlanRows,
  updatePlanRow,
  withoutChildren,
  type PlanFilter,
} from '../offers/plan-repository.ts';
import { hasLiveSubscription, planAnswers } from './repository.ts';

/** What a single plan embeds: every version of its prices. */
const READ = {
  prices: 'all',
  meters: true,
  entitlements: true,
  features: true,
  plans: true,
  credit_grants: true,
} as const;

async function search(deps: BillingDeps, caller: Caller, filter: PlanFilter & { search: Search }) {
  const page = await searchPlanRows(deps.pool, caller.scope, filter);
  const { expand } = filter.search;
  const items = await planAnswers(deps.pool, caller.scope, page.items, {
    ...(expand.has('prices') ? { prices: { notEndedAt: isoTime(deps.clock.now()) } } : {}),
    meters: expand.has('meters'),
    entitlements: expand.has('entitlements'),
    features: expand.has('features'),
    credit_grants: expand.has('credit_grant') || expand.has('credit_grants'),
    price_sync_status: expand.has('price_sync_status'),
  });
  return { ...page, items };
}

export const planRoutes = [
  route({
    method: 'POST',
    path: '/plans',
    summary: 'Create a plan',
    permission: 'plan:write',
    body: CreatePlanBody,
    status: 201,
    answer: Plan,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const plan = {
          ...newRecord(call.deps, call, 'plan'),
          name: call.body.name,
          description: call.body.description ?? null,
          lookup_key: call.body.lookup_key ?? null,
          display_order: call.body.display_order ?? 0,
          metadata: call.body.metadata ?? {},
        };
        await insertPlan(tx, plan);
        return withoutChildren(plan);
      }),
  }),
  route({
    method: 'GET',
    path: '/plans',
    summary: 'List plans',
    permission: 'plan:read',
    query: PlanSearch.query,
    status: 200,
    answer: pageOf(Plan),
    handler: (call) => search(call.deps, call, call.query),
  }),
  route({
    method: 'POST',
    path: '/plans/search',
    summary: 'Search plans',
    permission: 'plan:read',
    body: PlanSearch.body,
    status: 200,
    answer: pageOf(Plan),
    handler: (call) => search(call.deps, call, call.body),
  }),
  route({
    method: 'GET',
    path: '/plans/{id}',
    summary: 'Get a plan with its prices, entitlements and credit grants',
    permission: 'plan:read',
    params: IdParams,
    query: PlanQuery,
    status: 200,
    answer: Plan,
    async handler({ deps, scope, params, query }) {
      const row = await getPlanRow(deps.pool, scope, params.id);
      const price_sync_status = query.search.expand.has('price_sync_status');
      const [plan] = await planAnswers(deps.pool, scope, [row], { ...READ, price_sync_status });
      return plan!;
    },
  }),
  route({
    method: 'PUT',
    path: '/plans/{id}',
    summary: 'Update a plan',
    permission: 'plan:write',
    params: IdParams,
    body: UpdatePlanBody,
    status: 200,
    answer: Plan,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { display_order, ...rest } = call.body;
        const row = await updatePlanRow(tx, call.scope, call.params.id, {
          ...sent(rest),
          ...sentOr({ display_order }, { display_order: 0 }),
          ...changed(call.deps, call),
        });
        return withoutChildren(row);
      }),
  }),
  route({
    method: 'POST',
    path: '/plans/{id}/clone',
    summary: 'Copy a plan with its prices, entitlements and credit grants',
    permission: 'plan:write',
    params: IdParams,
    body: ClonePlanBody,
    status: 201,
    answer: Plan,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await clonePlan(tx, call.deps, call, call.params.id, call.body);
        const [plan] = await planAnswers(tx, call.scope, [row], READ);
        return plan!;
      }),
  }),
  route({
    method: 'DELETE',
    path: '/plans/{id}',
    summary: 'Archive a plan without live subscriptions',
    permission: 'plan:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const plan = await lockPlan(tx, call.scope, call.params.id);
        if (await hasLiveSubscription(tx, call.scope, plan.id))
          throw invalidOperation('The plan has subscriptions that are not cancelled.');
        if (plan.status === 'published')
          await updatePlanRow(tx, call.scope, plan.id, {
            status: 'archived',
            ...changed(call.deps, call),
          });
        return { message: 'plan deleted successfully' };
      }),
  }),
  route({
    method: 'GET',
    path: '/plans/{id}/entitlements',
    summary: 'List the entitlements of a plan',
    permission: 'entitlement:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: PlanEntitlements,
    async handler({ deps, scope, params, query }) {
      const plan = await getPlanRow(deps.pool, scope, params.id);
      const page = await pageOfEntitlements(deps.pool, scope, 'PLAN', params.id, query);
      const embed = { feature: true, meter: true, plan: true };
      const items = await entitlementAnswers(deps.pool, scope, page.items, embed);
      return { ...withoutChildren(plan), ...page, items, entitlements: items };
    },
  }),
  route({
    method: 'GET',
    path: '/plans/{id}/creditgrants',
    summary: 'List the credit grants of a plan',
    permission: 'creditgrant:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(CreditGrant),
    async handler({ deps, scope, params, query }) {
      await getPlanRow(deps.pool, scope, params.id);
      return await pageOfCreditGrants(deps.pool, scope, 'plan_id', params.id, query);
    },
  }),
];
