import { z } from 'zod';
import { addonFields } from './addon-record.ts';
import { CreditGrant } from './credit-grant.ts';
import { Entitlement } from './entitlement.ts';
import { Price } from './price.ts';
import { name, optionalOneOf, optionalText, pairs, text } from './primitives.ts';
import { RECORD_SEARCH_FIELDS } from './record-search.ts';
import { searchSchemas } from './search.ts';
import { ADDON_STATUSES, ADDON_TYPES } from './words.ts';

const metadata = pairs(z.unknown(), 256)
  .nullish()
  .transform((value) => (value === null ? {} : value));

export const CreateAddonBody = z.object({
  name: name(),
  lookup_key: name(),
  description: optionalText(5000),
  type: optionalOneOf(ADDON_TYPES),
  metadata,
});
export type CreateAddonBody = z.output<typeof CreateAddonBody>;

export const UpdateAddonBody = z.object({
  name: name().optional(),
  description: optionalText(5000),
  metadata,
});
export type UpdateAddonBody = z.output<typeof UpdateAddonBody>;

export const Addon = z
  .object({
    ...addonFields,
    /** Null unless the route or `expand` includes the children. */
    prices: z.array(Price).nullable(),
    entitlements: z.array(Entitlement).nullable(),
    credit_grants: z.array(CreditGrant).nullable(),
  })
  .meta({ id: 'Addon' });
export type Addon = z.infer<typeof Addon>;

export const AddonSearch = searchSchemas({
  fields: {
    name: 'text',
    lookup_key: 'text',
    type: 'text',
    description: 'text',
    ...RECORD_SEARCH_FIELDS,
  },
  // Clients of plans send `credit_grant` (as the reference answers).
  expand: ['prices', 'meters', 'entitlements', 'features', 'credit_grants', 'credit_grant'],
  filters: (kind) => ({
    addon_ids: kind.list(),
    lookup_keys: kind.list(),
    /** An addon is `active` until it is archived, then `cancelled`. Default: active addons. */
    addon_statuses: kind.list(z.enum(ADDON_STATUSES)),
    /** Addons that existed at that time. */
    active_at: kind.time(),
  }),
});
