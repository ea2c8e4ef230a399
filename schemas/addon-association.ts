import { z } from 'zod';
import { Addon } from './addon.ts';
import { CheckoutParams, CheckoutSession } from './checkout.ts';
import { notOffered } from './not-offered.ts';
import { decimalText, id, instant, optionalOneOf, recordFields, text, time } from './primitives.ts';
import { commaSeparated, PageQuery } from './search.ts';
import { Subscription } from './subscription-answers.ts';
import { AddonRequest } from './subscription-requests.ts';
import { SUBSCRIPTION_PRORATION_BEHAVIORS } from './words.ts';

const proration_behavior = optionalOneOf(SUBSCRIPTION_PRORATION_BEHAVIORS);

/** An addon for a running subscription. */
export const AttachAddonBody = AddonRequest.extend({
  subscription_id: id,
  /** Default: the behavior of the subscription. */
  proration_behavior,
  /** The addon counts once the checkout session is paid. Ignored if nothing is due. */
  checkout: CheckoutParams.nullish(),
}).meta({ id: 'AddAddonRequest' });
export type AttachAddonBody = z.output<typeof AttachAddonBody>;

/** The addon of a change of a subscription; the change itself has the checkout. */
export const AddedAddon = AttachAddonBody.omit({ subscription_id: true }).extend({
  checkout: notOffered('a checkout of its own'),
});
export type AddedAddon = z.output<typeof AddedAddon>;

export const DetachAddonBody = z
  .object({
    addon_association_id: id,
    /** Default: the end of the running period. */
    effective_date: time.nullish(),
    reason: text(1000).nullish(),
    /** Default: the behavior of the subscription. */
    proration_behavior,
  })
  .meta({ id: 'RemoveAddonRequest' });
export type DetachAddonBody = z.output<typeof DetachAddonBody>;

const AddonStatus = z.enum(['active', 'cancelled', 'pending']);

export const addonAssociationFields = {
  ...recordFields,
  addon_id: z.string(),
  quantity: decimalText,
  addon_status: AddonStatus,
  start_date: instant,
  end_date: instant.nullable(),
  cancelled_at: instant.nullable(),
  cancellation_reason: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
};

/** One instance of an addon on a subscription, from its start to its end. */
export const AddonAssociation = z
  .object({
    ...addonAssociationFields,
    /** The subscription. */
    entity_id: z.string(),
    entity_type: z.literal('subscription'),
    /** Null unless the route includes it. */
    addon: Addon.nullable(),
  })
  .meta({ id: 'AddonAssociation' });
export type AddonAssociation = z.infer<typeof AddonAssociation>;

export const AttachedAddon = AddonAssociation.extend({
  /** Where the addon is paid; it is `pending` until then. Null if it counts already. */
  checkout_session: CheckoutSession.nullable(),
  /** The subscription after the change. */
  subscription: Subscription,
}).meta({ id: 'AttachedAddon' });
export type AttachedAddon = z.infer<typeof AttachedAddon>;

/** The addons of a subscription. Default: those that have not ended. */
export const AddonAssociationQuery = PageQuery.extend({
  /** With these statuses, ended ones too. */
  addon_statuses: commaSeparated.pipe(z.array(AddonStatus).max(10).optional()),
  /** In force at that time. */
  active_at: time.optional(),
});
export type AddonAssociationQuery = z.output<typeof AddonAssociationQuery>;

const StoredAssociation = z.object({ ...addonAssociationFields, subscription_id: z.string() });
/** A row of `addon_associations`. */
export type AddonAssociationRow = z.infer<typeof StoredAssociation>;
