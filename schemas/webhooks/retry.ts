import { z } from 'zod';
import { id } from '../primitives.ts';

export const RetryWebhookBody = z.object({ system_event_id: id });

export const RetriedWebhook = z
  .object({ success: z.literal(true), message: z.string(), system_event_id: z.string() })
  .meta({ id: 'RetriedWebhook' });

/** Where notifications are looked at elsewhere: nowhere, they are delivered by the product itself. */
export const WebhookDashboard = z
  .object({ svix_enabled: z.boolean(), url: z.string() })
  .meta({ id: 'WebhookDashboard' });
