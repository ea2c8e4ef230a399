import { z } from 'zod';
import { text } from '../primitives.ts';

/** An origin as browsers write it: scheme, host and port, without a path. */
const origin = text(300).refine((value) => URL.canParse(value) && new URL(value).origin === value, {
  message: 'must be an origin, for example https://app.example.com',
});

/** Where hosted pages may lead back to. */
export const CheckoutConfig = z.object({
  /** Empty: requests with a key may name any https address; the portal accepts none. */
  return_origins: z.array(origin).max(50).default([]),
});
export const CHECKOUT_CONFIG_DEFAULT = { return_origins: [] };
