import { createHmac } from 'node:crypto';
import { invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { ApiDeps } from '../../deps.ts';

const TOKEN_MS = 15 * 60_000;

/**
 * HMAC-SHA256 of the account's id, in hex, with the widget's secret (tenancy 14.2.8). The same at
 * every call; `expires_at` says when to request it again. 400 if no widget is configured.
 */
export function supportChatToken(
  { supportChatSecret, clock }: Pick<ApiDeps, 'supportChatSecret' | 'clock'>,
  user: { readonly id: string },
): { token: string; expires_at: string } {
  if (supportChatSecret === null)
    throw invalidOperation('The support widget is not configured: SUPPORT_CHAT_SECRET is not set.');
  const token = createHmac('sha256', supportChatSecret).update(user.id).digest('hex');
  return { token, expires_at: isoTime(clock.now() + TOKEN_MS) };
}
