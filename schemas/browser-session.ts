import { z } from 'zod';
import { instant } from './primitives.ts';

/**
 * The session of a browser. The token goes into `Authorization: Bearer` and stays in the page's memory; the
 * refresh token is in a cookie that scripts cannot read.
 */
export const BrowserSession = z.object({
  token: z.string(),
  expires_at: instant,
  /** Until `expires_at`, for browsers whose clock is wrong. */
  expires_in_seconds: z.int(),
  user_id: z.string(),
  tenant_id: z.string(),
});
export type BrowserSession = z.output<typeof BrowserSession>;

/** Null: the browser has no session, or it has ended. */
export const BrowserSessionAnswer = z.object({ session: BrowserSession.nullable() });

/** The password of the person whose session it is, once more. */
export const ConfirmBody = z.object({ password: z.string().min(1).max(1024) });
