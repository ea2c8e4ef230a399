import {
  BulkEntitlements,
  CreateBulkEntitlementBody,
  CreateEntitlementBody,
  Entitlement,
  EntitlementSearch,
  UpdateEntitlementBody,
} from '../../../schemas/entitlement.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { fieldsWithoutEffect } from '../../../domain/entitlement/entitlement-rules.ts';
import { createEntitlements, withoutEffectInNew } from './create-entitlements.ts';
import { entitlementAnswers, getEntitlement, searchEntitlements } from './repository.ts';
import { archiveEntitlement, updateEntitlement } from './update-entitlement.ts';

const CREATED = { feature: true, plan: true, addon: true } as const;

export const entitlementRoutes = [
  route({
    method: 'POST',
    path: '/entitlements',
    summary: 'Grant a feature to a plan, an addon or a subscription',
    permission: 'entitlement:write',
    body: CreateEntitlementBody,
    status: 201,
    answer: Entitlement,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        call.ignore(withoutEffectInNew(call.body));
        const rows = await createEntitlements(tx, call.deps, call, [call.body], { bulk: false });
        const [entitlement] = await entitlementAnswers(tx, call.scope, rows, CREATED);
        return entitlement!;
      }),
  }),
  route({
    method: 'POST',
    path: '/entitlements/bulk',
    summary: 'Create up to 100 entitlements, all or none',
    permission: 'entitlement:write',
    body: CreateBulkEntitlementBody,
    status: 201,
    answer: BulkEntitlements,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        call.ignore(
          call.body.items.flatMap((item, index) =>
            withoutEffectInNew(item).map((field) => `items[${index}].${field}`),
          ),
        );
        const rows = await createEntitlements(tx, call.deps, call, call.body.items, { bulk: true });
        return { items: await entitlementAnswers(tx, call.scope, rows, CREATED) };
      }),
  }),
  route({
    method: 'GET',
    path: '/entitlements',
    summary: 'List entitlements',
    permission: 'entitlement:read',
    query: EntitlementSearch.query,
    status: 200,
    answer: pageOf(Entitlement),
    handler: ({ deps, scope, query }) => searchEntitlements(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/entitlements/search',
    summary: 'Search entitlements',
    permission: 'entitlement:read',
    body: EntitlementSearch.body,
    status: 200,
    answer: pageOf(Entitlement),
    handler: ({ deps, scope, body }) => searchEntitlements(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/entitlements/{id}',
    summary: 'Get an entitlement with its feature and plan',
    permission: 'entitlement:read',
    params: IdParams,
    status: 200,
    answer: Entitlement,
    async handler({ deps, scope, params }) {
      const row = await getEntitlement(deps.pool, scope, params.id);
      const embed = { ...CREATED, meter: true };
      const [entitlement] = await entitlementAnswers(deps.pool, scope, [row], embed);
      return entitlement!;
    },
  }),
  route({
    method: 'PUT',
    path: '/entitlements/{id}',
    summary: 'Update an entitlement',
    permission: 'entitlement:write',
    params: IdParams,
    body: UpdateEntitlementBody,
    status: 200,
    answer: Entitlement,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await updateEntitlement(tx, call.deps, call, call.params.id, call.body);
        call.ignore(fieldsWithoutEffect(row.feature_type, call.body));
        const [entitlement] = await entitlementAnswers(tx, call.scope, [row], {});
        return entitlement!;
      }),
  }),
  route({
    method: 'DELETE',
    path: '/entitlements/{id}',
    summary: 'Archive an entitlement',
    permission: 'entitlement:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      await call.deps.pool.begin((tx) => archiveEntitlement(tx, call.deps, call, call.params.id));
      return { message: 'entitlement deleted successfully' };
    },
  }),
];
