import { notFound } from '../../../domain/errors.ts';
import { inScope } from '../../../postgres/client.ts';
import {
  RetriedWebhook,
  RetryWebhookBody,
  WebhookDashboard,
} from '../../../schemas/webhooks/retry.ts';
import { route } from '../../conventions/route.ts';

export const webhookRoutes = [
  route({
    method: 'GET',
    path: '/webhooks/dashboard',
    summary: 'Get the link to the notification dashboard of an external service',
    permission: 'webhook:read',
    status: 200,
    answer: WebhookDashboard,
    handler: async () => ({ svix_enabled: false, url: '' }),
  }),
  route({
    method: 'POST',
    path: '/webhooks/retry',
    summary: 'Send a notification again, with the payload it had',
    permission: 'webhook:write',
    body: RetryWebhookBody,
    status: 202,
    answer: RetriedWebhook,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { system_event_id } = call.body;
        const [row] = await tx`
          update outbox set delivered_at = null
           where ${inScope(tx, call.scope)} and id = ${system_event_id}
          returning id`;
        if (row === undefined) throw notFound('Notification', system_event_id);
        return {
          success: true as const,
          message: 'The notification will be sent again',
          system_event_id,
        };
      }),
  }),
];
