import type { Message } from '../../../platform/mail/mailer.ts';
import type { Db } from '../../../postgres/client.ts';
import { ENDPOINT_DISABLED_EMAIL, type QueuedEmail } from '../../../postgres/tables/email-queue.ts';
import { findDisabledEndpoint } from './endpoint-repository.ts';

export const isDisabledNotice = (kind: string): boolean => kind === ENDPOINT_DISABLED_EMAIL;

/**
 * The notice that a webhook endpoint was disabled automatically (money 17.2), for a super admin of its tenant.
 * Null if the endpoint is enabled again or deleted.
 */
export async function composeDisabledNotice(db: Db, email: QueuedEmail): Promise<Message | null> {
  const { tenant_id = '', endpoint_id = '' } = email.payload;
  const endpoint = await findDisabledEndpoint(db, tenant_id, endpoint_id);
  if (endpoint === null) return null;
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
