import { z } from 'zod';

/**
 * A field that clients of this API may send and that this version does not support. Empty values (`null`,
 * an empty list, `false`) are accepted. Other values are refused: silence would suggest that they have an
 * effect.
 */
export const notOffered = (what: string) =>
  z
    .unknown()
    .refine(isEmpty, { message: `${what} cannot be set in this version; leave it out` })
    .optional();

const refusedFields = new WeakSet<z.ZodType>();

/** A field of a common shape that would have no effect here. Every value is refused, and no document lists it. */
export function refused(message: string): z.ZodType<null | undefined> {
  const schema = z.unknown().refine(isEmpty, { message }).optional();
  refusedFields.add(schema);
  return schema as z.ZodType<null | undefined>;
}

export const isRefused = (schema: z.ZodType): boolean => refusedFields.has(schema);

/** The refusal of a list or map that this version accepts empty only. */
export const onlyEmpty = (what: string) => ({
  message: `${what} cannot be set in this version; leave it empty`,
});

/** Whether a value has no content: undefined, null, false, or an empty text, list or object. */
export function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
