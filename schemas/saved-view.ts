import * as z from 'zod';
import { name, recordFields, text } from './primitives.ts';
import { searchSchemas } from './search.ts';

const QUERY_LENGTH_MAX = 4_000;

/** A name of a page, for example `analytics`. */
const page = name(100);
/** The query of the page's address, without the question mark. */
const query = text(QUERY_LENGTH_MAX).transform((value) => value.replace(/^\?/, ''));

export const CreateSavedViewBody = z.object({
  name: name(),
  page,
  query: query.default(''),
  /** Others of the environment see it too; only its owner changes it. */
  is_shared: z.boolean().default(false),
});
export type CreateSavedViewBody = z.output<typeof CreateSavedViewBody>;

export const UpdateSavedViewBody = z.object({
  name: name().optional(),
  query: query.optional(),
  is_shared: z.boolean().optional(),
});
export type UpdateSavedViewBody = z.output<typeof UpdateSavedViewBody>;

/** Filters, tabs and time range of a page under a name. */
export const SavedView = z
  .object({
    ...recordFields,
    /** Its owner. */
    user_id: z.string(),
    name: z.string(),
    page: z.string(),
    query: z.string(),
    is_shared: z.boolean(),
  })
  .meta({ id: 'SavedView' });
export type SavedView = z.infer<typeof SavedView>;

export const SavedViewSearch = searchSchemas({
  fields: { name: 'text', page: 'text', created_at: 'time', updated_at: 'time' },
  filters: (kind) => ({ page: kind.text(), is_shared: kind.boolean() }),
});
