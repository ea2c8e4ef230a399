import { z } from 'zod';
import { id, text } from './primitives.ts';

export const SamlParams = z.object({ tenant: id });

const stateBytes = (value: string): boolean => new TextEncoder().encode(value).length <= 80;

/**
 * `state` is returned together with the token; it is not an address, and the service does not redirect to it.
 */
export const SamlLoginQuery = z.object({
  state: text(80, 'has at most 80 bytes').refine(stateBytes, 'has at most 80 bytes').optional(),
});

/**
 * A longer response does not come from an identity provider; `platform/identity/saml/response.ts` has a lower limit.
 */
const RESPONSE_LENGTH_MAX = 512 * 1024;
const RELAY_STATE_LENGTH_MAX = 4096;

const Form = z.object({
  SAMLResponse: text(RESPONSE_LENGTH_MAX).min(1, 'is required'),
  RelayState: text(RELAY_STATE_LENGTH_MAX).default(''),
});

/** The form that the browser posts for the identity provider. */
export const SamlResponseBody = z
  .custom<Buffer>((value) => Buffer.isBuffer(value), 'expected a form')
  .transform((form) => Object.fromEntries(new URLSearchParams(form.toString('utf8'))))
  .pipe(Form);
export type SamlResponseBody = z.output<typeof SamlResponseBody>;
