import * as z from 'zod';
import { instant, integer, optionalOneOf } from './primitives.ts';

/** A company of generated data. */
export const SEED_PROFILES = ['ai-saas'] as const;
export const SEED_EVENTS_MAX = 1_000_000;

/** What an environment is filled with. The same seed and number of events give the same customers and usage. */
export const SeedEnvironmentBody = z.object({
  profile: optionalOneOf(SEED_PROFILES).transform((profile) => profile ?? 'ai-saas'),
  seed: integer.min(1).max(1_000_000_000).default(1),
  events: integer.min(1).max(SEED_EVENTS_MAX).default(SEED_EVENTS_MAX),
});
export type SeedEnvironmentBody = z.output<typeof SeedEnvironmentBody>;

/** Whether an environment is filled with generated data, and how far it is. */
export const EnvironmentSeed = z
  .object({
    environment_id: z.string(),
    /** `none`: it was never filled. `failed`: `error` says why. */
    state: z.enum(['none', 'running', 'completed', 'failed']),
    /** Whether it has no plans, customers and meters: it can be filled, unless it is of type production. */
    is_empty: z.boolean(),
    profile: z.enum(SEED_PROFILES).nullable(),
    seed: z.int().nullable(),
    /** The last completed step. */
    step: z.string().nullable(),
    events_sent: z.int(),
    /** All events that are sent. */
    events: z.int(),
    error: z.string().nullable(),
    started_at: instant.nullable(),
    ended_at: instant.nullable(),
  })
  .meta({ id: 'EnvironmentSeed' });
export type EnvironmentSeed = z.infer<typeof EnvironmentSeed>;
