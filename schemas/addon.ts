import { z } from 'zod';
import { addonFields } from './addon-record.ts';
import { CreditGrant } from './credit-grant.ts';
import { Entitlement } from './entitlement.ts';
import { Price } from './price.ts';
import { name, optionalText } from './primitives.ts';
import { searchSchemas } from './search.ts';
import { ADDON_TYPES } from './words.ts';

const metadata = z
  .record(z.string().max(255), z.unknown())
  .nullish()
  .transform((value) => (value === null ? {} : value));

export const CreateAddonBody = z.object({
  name: name(),
  lookup_key: name(),
  description: optionalText(5000),
  type: z.enum(ADDON_TYPES).nullish(),
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
    /** The children are null unless the route or `expand` asks for them. */
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
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['prices', 'meters', 'entitlements', 'features', 'credit_grants'],
  filters: (kind) => ({ addon_ids: kind.list(), lookup_keys: kind.list() }),
});
