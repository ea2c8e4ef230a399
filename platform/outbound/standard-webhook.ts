import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A signing secret: `whsec_` and 256 random bits in base64. */
export const newWebhookSecret = (): string =>
  `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * Headers of one attempt (Standard Webhooks 1.0): the id is the same in every attempt, the time is that of the
 * attempt, and there is one signature for each secret. The `svix-` names are aliases for older receivers.
 */
export function webhookHeaders(
  id: string,
  atMs: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const content = `${id}.${timestamp}.${body}`;
  const signature = secrets.map((secret) => signed(secret, content)).join(' ');
  return {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Meterline-Webhooks/1.0',
    ...Object.fromEntries(
      ['webhook', 'svix'].flatMap((prefix) => [
        [`${prefix}-id`, id],
        [`${prefix}-timestamp`, timestamp],
        [`${prefix}-signature`, signature],
      ]),
    ),
  };
}

function signed(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
