import { isoTime } from '../../../platform/clock.ts';
import { sendNotification } from '../../../platform/outbound/send-notification.ts';
import type { WebhookAttempt } from '../../../schemas/webhooks/endpoint.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import type { ApiDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { findNewestPayload, insertAttempt } from './attempt-repository.ts';
import { getEndpoint } from './endpoint-repository.ts';
import { rulesOf, secretsOf } from './endpoints.ts';

/**
 * Sends the newest notification of the type to the endpoint once as a test, with a new id and `test: true`.
 * If there is no notification of the type, the body has no record.
 */
export async function sendTest(
  deps: Pick<ApiDeps, 'pool' | 'ids' | 'clock' | 'secretBox' | 'settings' | 'outbound'>,
  { scope }: Caller,
  id: string,
  event_type: WebhookEventType,
): Promise<WebhookAttempt> {
  const { pool, clock } = deps;
  const endpoint = await getEndpoint(pool, scope, id);
  const latest = await findNewestPayload(pool, scope, event_type);
  const event_id = deps.ids.next('outbox');
  const attempt = await sendNotification(
    deps,
    {
      event_id,
      event_type,
      occurred_at: isoTime(clock.now()),
      clock_time: null,
      environment_id: scope.environment_id,
      sequence: null,
      payload: { ...latest, test: true },
    },
    {
      url: endpoint.url,
      secrets: await secretsOf(pool, deps, scope, id),
      rules: await rulesOf(pool, deps, scope),
    },
  );
  return await insertAttempt(pool, {
    ...attempt,
    ...scope,
    id: deps.ids.next('whatt'),
    endpoint_id: id,
    event_id,
    event_type,
    attempt: 1,
  });
}
