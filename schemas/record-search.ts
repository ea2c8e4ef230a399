import type { FieldKind } from './search.ts';

/** What every record of the catalog can be sorted and filtered by, beside the fields of its own. */
export const RECORD_SEARCH_FIELDS = {
  id: 'text',
  status: 'text',
  created_at: 'time',
  updated_at: 'time',
  created_by: 'text',
  updated_by: 'text',
} as const satisfies Readonly<Record<string, FieldKind>>;
