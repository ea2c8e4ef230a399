import { z } from 'zod';
import { recordFields } from './primitives.ts';
import { ADDON_TYPES, type ADDON_STATUSES } from './words.ts';

export type AddonStatus = (typeof ADDON_STATUSES)[number];

export const addonFields = {
  ...recordFields,
  name: z.string(),
  description: z.string().nullable(),
  lookup_key: z.string(),
  type: z.enum(ADDON_TYPES),
  /** Values of any JSON type. */
  metadata: z.record(z.string(), z.unknown()),
};

/** An addon embedded in another record, without its own children. */
export const EmbeddedAddon = z
  .object({
    ...addonFields,
    prices: z.null(),
    entitlements: z.null(),
    credit_grants: z.null(),
  })
  .meta({ id: 'EmbeddedAddon' });
export type EmbeddedAddon = z.infer<typeof EmbeddedAddon>;
