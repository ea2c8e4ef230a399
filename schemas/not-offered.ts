import { z } from 'zod';

/**
 * A field that clients of this API know and that this version does not take. Sent empty (`null`, an
 * empty list, `false`) it says nothing and is let through; sent with a value it is refused, because
 * silence would let the caller believe it had been heeded.
 */
export const notOffered = (what: string) =>
  z
    .unknown()
    .refine(isEmpty, { message: `${what} can not be set in this version; leave it out` })
    .optional();

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}
