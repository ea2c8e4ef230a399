import { z } from 'zod';
import { name, optionalMetadata, recordFields } from './primitives.ts';
import { searchSchemas } from './search.ts';
import { GROUP_ENTITY_TYPES } from './words.ts';

export const CreateGroupBody = z.object({
  name: name(),
  lookup_key: name(),
  entity_type: z.enum(GROUP_ENTITY_TYPES),
  metadata: optionalMetadata,
});
export type CreateGroupBody = z.output<typeof CreateGroupBody>;

/** `entity_ids` are the published members: prices or features. */
export const Group = z
  .object({
    ...recordFields,
    name: z.string(),
    lookup_key: z.string(),
    entity_type: z.enum(GROUP_ENTITY_TYPES),
    entity_ids: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Group' });
export type Group = z.infer<typeof Group>;

export const GroupSearch = searchSchemas({
  fields: {
    id: 'text',
    name: 'text',
    lookup_key: 'text',
    entity_type: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({
    group_ids: kind.list(),
    entity_type: kind.oneOf(GROUP_ENTITY_TYPES),
    name: kind.text(),
    lookup_key: kind.text(),
  }),
});
