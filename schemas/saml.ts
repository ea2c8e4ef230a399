import { z } from 'zod';
import { id, text } from './primitives.ts';

export const SamlParams = z.object({ tenant: id });

const stateBytes = (value: string): boolean => new TextEncoder().encode(value).length <= 80;

/** `state` comes back with the token; it is no address, and nobody is sent to it. */
export const SamlLoginQuery = z.object({
  state: text(80, 'has at most 80 bytes').refine(stateBytes, 'has at most 80 bytes').optional(),
});

/** What is above is no response of an identity provider; `platform/saml/response.ts` reads less. */
const RESPONSE_LENGTH_MAX = 512 * 1024;
const RELAY_STATE_LENGTH_MAX = 4096;

const Form = z.object({
  SAMLResponse: text(RESPONSE_LENGTH_MAX).min(1, 'is required'),
  RelayState: text(RELAY_STATE_LENGTH_MAX).default(''),
});

/** What the browser posts on behalf of the identity provider. */
export const SamlResponseBody = z
  .custom<Buffer>((value) => Buffer.isBuffer(value), 'expected a form')
  .transform((form) => Object.fromEntries(new URLSearchParams(form.toString('utf8'))))
  .pipe(Form);
export type SamlResponseBody = z.output<typeof SamlResponseBody>;
