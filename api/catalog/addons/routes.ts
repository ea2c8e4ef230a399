import { invalidField } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { Addon, AddonSearch, CreateAddonBody, UpdateAddonBody } from '../../../schemas/addon.ts';
import { CreditGrant } from '../../../schemas/credit-grant.ts';
import { LookupKeyParams } from '../../../schemas/customer.ts';
import { Entitlement } from '../../../schemas/entitlement.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf, PageQuery } from '../../../schemas/search.ts';
import { pageOfCreditGrants } from '../credit-grants/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { entitlementAnswers, pageOfEntitlements } from '../entitlements/repository.ts';
import { changed, newRecord, sent, type Caller } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { addonAnswers } from './answers.ts';
import { isOnLiveSubscription } from './repository.ts';
import {
  getAddonByLookupKey,
  getAddonRow,
  insertAddon,
  lockAddon,
  searchAddonRows,
  updateAddonRow,
  type AddonFilter,
  type AddonRow,
} from '../offers/addon-repository.ts';

/** What a single addon embeds: every version of its prices. */
const READ = {
  prices: 'all',
  meters: true,
  entitlements: true,
  features: true,
  credit_grants: true,
} as const;

async function search(deps: BillingDeps, caller: Caller, filter: AddonFilter) {
  const page = await searchAddonRows(deps.pool, caller.scope, filter);
  const { expand } = filter.search;
  const items = await addonAnswers(deps.pool, caller.scope, page.items, {
    ...(expand.has('prices') ? { prices: { notEndedAt: isoTime(deps.clock.now()) } } : {}),
    meters: expand.has('meters'),
    entitlements: expand.has('entitlements'),
    features: expand.has('features'),
    credit_grants: expand.has('credit_grants') || expand.has('credit_grant'),
  });
  return { ...page, items };
}

async function read(deps: BillingDeps, caller: Caller, row: AddonRow) {
  const [addon] = await addonAnswers(deps.pool, caller.scope, [row], READ);
  return addon!;
}

export const addonRoutes = [
  route({
    method: 'POST',
    path: '/addons',
    summary: 'Create an addon',
    permission: 'addon:write',
    body: CreateAddonBody,
    status: 201,
    answer: Addon,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row: AddonRow = {
          ...newRecord(call.deps, call, 'addon'),
          name: call.body.name,
          lookup_key: call.body.lookup_key,
          description: call.body.description ?? null,
          type: call.body.type ?? 'onetime',
          metadata: call.body.metadata ?? {},
        };
        await insertAddon(tx, row);
        return { ...row, prices: null, entitlements: null, credit_grants: null };
      }),
  }),
  route({
    method: 'GET',
    path: '/addons',
    summary: 'List addons',
    permission: 'addon:read',
    query: AddonSearch.query,
    status: 200,
    answer: pageOf(Addon),
    handler: (call) => search(call.deps, call, call.query),
  }),
  route({
    method: 'POST',
    path: '/addons/search',
    summary: 'Search addons',
    permission: 'addon:read',
    body: AddonSearch.body,
    status: 200,
    answer: pageOf(Addon),
    handler: (call) => search(call.deps, call, call.body),
  }),
  route({
    method: 'GET',
    path: '/addons/lookup/{lookup_key}',
    summary: 'Get a published addon by its lookup key',
    permission: 'addon:read',
    params: LookupKeyParams,
    status: 200,
    answer: Addon,
    handler: async (call) =>
      read(
        call.deps,
        call,
        await getAddonByLookupKey(call.deps.pool, call.scope, call.params.lookup_key),
      ),
  }),
  route({
    method: 'GET',
    path: '/addons/{id}',
    summary: 'Get an addon with its prices, entitlements and credit grants',
    permission: 'addon:read',
    params: IdParams,
    status: 200,
    answer: Addon,
    handler: async (call) =>
      read(call.deps, call, await getAddonRow(call.deps.pool, call.scope, call.params.id)),
  }),
  route({
    method: 'PUT',
    path: '/addons/{id}',
    summary: 'Update an addon',
    permission: 'addon:write',
    params: IdParams,
    body: UpdateAddonBody,
    status: 200,
    answer: Addon,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await updateAddonRow(tx, call.scope, call.params.id, {
          ...sent(call.body),
          ...changed(call.deps, call),
        });
        return { ...row, prices: null, entitlements: null, credit_grants: null };
      }),
  }),
  route({
    method: 'DELETE',
    path: '/addons/{id}',
    summary: 'Archive an addon that no subscription uses',
    permission: 'addon:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const addon = await lockAddon(tx, call.scope, call.params.id);
        if (await isOnLiveSubscription(tx, call.scope, addon.id))
          throw invalidField('id', 'the addon is part of a live subscription');
        if (addon.status === 'published')
          await updateAddonRow(tx, call.scope, addon.id, {
            status: 'archived',
            ...changed(call.deps, call),
          });
        return { message: 'addon deleted successfully' };
      }),
  }),
  route({
    method: 'GET',
    path: '/addons/{id}/entitlements',
    summary: 'List the entitlements of an addon',
    permission: 'entitlement:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(Entitlement),
    async handler({ deps, scope, params, query }) {
      await getAddonRow(deps.pool, scope, params.id);
      const page = await pageOfEntitlements(deps.pool, scope, 'ADDON', params.id, query);
      const embed = { feature: true, meter: true, addon: true };
      return { ...page, items: await entitlementAnswers(deps.pool, scope, page.items, embed) };
    },
  }),
  route({
    method: 'GET',
    path: '/addons/{id}/creditgrants',
    summary: 'List the credit grants of an addon',
    permission: 'creditgrant:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(CreditGrant),
    async handler({ deps, scope, params, query }) {
      await getAddonRow(deps.pool, scope, params.id);
      return await pageOfCreditGrants(deps.pool, scope, 'addon_id', params.id, query);
    },
  }),
];
