import * as z from 'zod';

/** How hosted pages show the tenant. Every value is validated: pages never render markup or styles of a tenant. */
export const Brand = z.object({
  name: z.string(),
  /** A PNG or JPEG image as a data URI. */
  logo: z.string().nullable(),
  /** A colour such as `#1d4ed8`. */
  accent: z.string().nullable(),
});
export type Brand = z.infer<typeof Brand>;
