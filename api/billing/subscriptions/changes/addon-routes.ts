import {
  AddonAssociation,
  AddonAssociationQuery,
  AttachAddonBody,
  DetachAddonBody,
  AttachedAddon,
  type AddonAssociationRow,
} from '../../../../schemas/addon-association.ts';
import type { Addon } from '../../../../schemas/addon.ts';
import { IdParams, Message } from '../../../../schemas/primitives.ts';
import { pageOf } from '../../../../schemas/search.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { addonAnswers } from '../../../catalog/addons/answers.ts';
import {
  getAddonAssociation,
  pageOfAddonAssociations,
} from '../../../catalog/offers/addon-association-repository.ts';
import { findAddonRows } from '../../../catalog/offers/addon-repository.ts';
import { route } from '../../../conventions/route.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { createdSubscription } from '../read-subscriptions.ts';
import { detachAddon } from './addons.ts';
import { attachAddon } from './attach-addon.ts';
import { modify } from './modify.ts';

/** Addons of subscriptions. */
export const subscriptionAddonRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions/addon',
    summary: 'Attach an addon to a subscription',
    permission: 'subscription:write',
    ownsTransactions: true,
    body: AttachAddonBody,
    status: 200,
    answer: AttachedAddon,
    async handler(call) {
      const { checkout, subscription_id, ...add } = call.body;
      const { association, checkout_session } =
        checkout == null
          ? {
              association: await attachAddon(call.deps, call, { ...add, subscription_id }),
              checkout_session: null,
            }
          : await modify(call.deps, call, subscription_id, {
              type: 'addon',
              addon_params: { action: 'add', add },
              checkout,
            });
      // A saved method or an early callback may have paid the session already (money 11.8).
      const isPaid = checkout_session?.checkout_status === 'completed';
      const attached = isPaid
        ? await getAddonAssociation(call.deps.pool, call.scope, association!.id)
        : association!;
      return {
        ...associationAnswer(attached, null),
        checkout_session,
        subscription: await createdSubscription(call.deps.pool, call.scope, subscription_id),
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/subscriptions/addon',
    summary: 'End an addon of a subscription',
    permission: 'subscription:write',
    body: DetachAddonBody,
    status: 200,
    answer: Message,
    handler: async (call) => {
      await detachAddon(call.deps, call, call.body);
      return { message: 'addon removed from subscription successfully' };
    },
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/addons/associations',
    summary: 'List the addons of a subscription, by default those that have not ended',
    permission: 'subscription:read',
    params: IdParams,
    query: AddonAssociationQuery,
    status: 200,
    answer: pageOf(AddonAssociation),
    async handler({ deps, scope, params, query }) {
      const { id } = await getSubscription(deps.pool, scope, params.id);
      const now = isoTime(deps.clock.now());
      const page = await pageOfAddonAssociations(deps.pool, scope, id, query, now);
      const ids = [...new Set(page.items.map(({ addon_id }) => addon_id))];
      const rows = await findAddonRows(deps.pool, scope, ids);
      const addons = await addonAnswers(deps.pool, scope, rows, {
        prices: 'all',
        meters: true,
        entitlements: true,
        features: true,
        credit_grants: true,
      });
      const byId = new Map(addons.map((addon) => [addon.id, addon]));
      const items = page.items.map((row) => associationAnswer(row, byId.get(row.addon_id) ?? null));
      return { ...page, items };
    },
  }),
];

function associationAnswer(
  { subscription_id, ...row }: AddonAssociationRow,
  addon: Addon | null,
): AddonAssociation {
  return { ...row, entity_id: subscription_id, entity_type: 'subscription', addon };
}
