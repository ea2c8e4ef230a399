import { z } from 'zod';
import { id } from '../primitives.ts';

export const RetryWebhookBody = z.object({ system_event_id: id });

export const RetriedWebhook = z
  .object({ success: z.literal(true), message: z.string(), system_event_id: z.string() })
  .meta({ id: 'RetriedWebhook' });

/** The external notification dashboard: none, because the product delivers notifications itself. */
export const WebhookDashboard = z
  .object({ svix_enabled: z.boolean(), url: z.string() })
  .meta({ id: 'WebhookDashboard' });
