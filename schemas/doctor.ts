import * as z from 'zod';
import { instant } from './primitives.ts';

export const HEALTH_STATES = ['ok', 'warn', 'bad'] as const;
export type HealthState = (typeof HEALTH_STATES)[number];

/** One finding about the service, as far as it concerns the caller's environment. */
export const HealthCheck = z.object({
  name: z.string(),
  state: z.enum(HEALTH_STATES),
  /** The finding, in a few words. */
  found: z.string(),
  /** How to fix it; null if nothing is wrong. */
  mend: z.string().nullable(),
});
export type HealthCheck = z.infer<typeof HealthCheck>;

export const DoctorReport = z
  .object({
    /** The worst state of all checks. */
    state: z.enum(HEALTH_STATES),
    checked_at: instant,
    checks: z.array(HealthCheck),
  })
  .meta({ id: 'DoctorReport' });
export type DoctorReport = z.infer<typeof DoctorReport>;
