import { z } from 'zod';
import {
  instant,
  integer,
  metadata,
  optionalOneOf,
  recordFields,
  text,
  plannedDate,
} from './primitives.ts';
import { PAUSE_MODES, PAUSE_RECORD_STATUSES, RESUME_MODES } from './words.ts';

/** A pause of a subscription: nothing is invoiced in it, and its usage is not billed. */
export const SubscriptionPause = z
  .object({
    ...recordFields,
    subscription_id: z.string(),
    pause_mode: z.enum(PAUSE_MODES),
    /** How it ends; null: by hand. */
    resume_mode: z.enum(RESUME_MODES).nullable(),
    pause_status: z.enum(PAUSE_RECORD_STATUSES),
    pause_start: instant,
    pause_end: instant.nullable(),
    resumed_at: instant.nullable(),
    /** The running period as it was when the pause began. */
    original_period_start: instant,
    original_period_end: instant,
    reason: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'SubscriptionPause' });
export type SubscriptionPause = z.infer<typeof SubscriptionPause>;

/** Clients send `false` always. */
const dryRun = z
  .boolean()
  .refine((value) => !value, {
    message: 'is not offered: POST /invoices/preview shows what a period costs; leave it out',
  })
  .nullish();

export const PauseSubscriptionBody = z
  .object({
    dry_run: dryRun,
    pause_mode: optionalOneOf(PAUSE_MODES),
    /** Only with the mode `scheduled`. */
    pause_start: plannedDate.nullish(),
    /** This or `pause_days`; without both, the pause ends by hand. */
    pause_end: plannedDate.nullish(),
    pause_days: integer.nullish(),
    reason: text(1000).nullish(),
    metadata: metadata.nullish(),
  })
  .meta({ id: 'PauseSubscription' });
export type PauseSubscriptionBody = z.output<typeof PauseSubscriptionBody>;

export const ResumeSubscriptionBody = z
  .object({
    dry_run: dryRun,
    resume_mode: optionalOneOf(RESUME_MODES),
    /** Only with the mode `scheduled`. */
    resume_at: plannedDate.nullish(),
    metadata: metadata.nullish(),
  })
  .meta({ id: 'ResumeSubscription' });
export type ResumeSubscriptionBody = z.output<typeof ResumeSubscriptionBody>;
