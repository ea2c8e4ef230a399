import type { Message } from '../../../platform/mail/mailer.ts';
import type { Db } from '../../../postgres/client.ts';
import { ENDPOINT_DISABLED_EMAIL, type QueuedEmail } from '../../../postgres/tables/email-queue.ts';

export const isDisabledNotice = (kind: string): boolean => kind === ENDPOINT_DISABLED_EMAIL;

/**
 * The notice that a webhook endpoint was disabled automatically (money 17.2), for a super admin of its tenant.
 * Null if the endpoint is enabled again or deleted.
 */
export async function composeDisabledNotice(db: Db, email: QueuedEmail): Promise<Message | null> {
  const { tenant_id = '', endpoint_id = '' } = email.payload;
  const [endpoint] = await db<
    { url: string; disabled_reason: string | null; environment_id: string; environment: string }[]
  >`
    select w.url, w.disabled_reason, w.environment_id, e.name as environment
      from webhook_endpoints w join environments e on e.id = w.environment_id
     where w.tenant_id = ${tenant_id} and w.id = ${endpoint_id}
       and w.status = 'published' and not w.enabled`;
  if (endpoint === undefined) return null;
  return {
    id: email.id,
    to: email.recipient,
    subject: 'A webhook endpoint was disabled',
    text: `The webhook endpoint ${endpoint_id} was disabled automatically. It receives no further notifications.

Environment: ${endpoint.environment} (${endpoint.environment_id})
Address: ${endpoint.url}
Reason: ${endpoint.disabled_reason ?? ''}

Repair the receiver and enable the endpoint again (PUT /v1/webhooks/endpoints/${endpoint_id}). Then send the
notifications of this time again with POST /v1/webhooks/replay.
`,
  };
}
