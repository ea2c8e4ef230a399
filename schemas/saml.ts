import { z } from 'zod';
import { id } from './primitives.ts';

export const SamlParams = z.object({ tenant: id });

const stateBytes = (value: string): boolean => new TextEncoder().encode(value).length <= 80;

/** `state` comes back with the token; it is no address, and nobody is sent to it. */
export const SamlLoginQuery = z.object({
  state: z.string().refine(stateBytes, 'has at most 80 bytes').optional(),
});

const Form = z.object({
  SAMLResponse: z.string().min(1, 'is required'),
  RelayState: z.string().default(''),
});

/** What the browser posts on behalf of the identity provider. */
export const SamlResponseBody = z
  .custom<Buffer>((value) => Buffer.isBuffer(value), 'expected a form')
  .transform((form) => Object.fromEntries(new URLSearchParams(form.toString('utf8'))))
  .pipe(Form);
export type SamlResponseBody = z.output<typeof SamlResponseBody>;
