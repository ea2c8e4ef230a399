import type { FieldKind } from './search.ts';

/** Fields that every record of the catalog can be sorted and filtered by, in addition to its own fields. */
export const RECORD_SEARCH_FIELDS = {
  id: 'text',
  status: 'text',
  created_at: 'time',
  updated_at: 'time',
  created_by: 'text',
  updated_by: 'text',
} as const satisfies Readonly<Record<string, FieldKind>>;
