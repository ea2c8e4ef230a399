import { z } from 'zod';
import { instant, name, optionalId, optionalName, optionalOneOf } from './primitives.ts';
import { searchSchemas } from './search.ts';
import { ENVIRONMENT_TYPES } from './words.ts';

export const CreateEnvironmentBody = z.object({
  name: name(),
  type: z.enum(ENVIRONMENT_TYPES),
});

/** An empty name changes nothing. The type cannot change; a client may send the current one. */
export const UpdateEnvironmentBody = z.object({
  name: optionalName(),
  type: z.enum(ENVIRONMENT_TYPES).or(z.literal('')).nullish(),
});
export type UpdateEnvironmentBody = z.output<typeof UpdateEnvironmentBody>;

/** A new environment by name and type, or an existing one that has no catalog yet. */
export const CloneEnvironmentBody = z.object({
  name: optionalName(),
  type: optionalOneOf(ENVIRONMENT_TYPES),
  target_environment_id: optionalId,
});
export type CloneEnvironmentBody = z.output<typeof CloneEnvironmentBody>;

/** `workflow_id` is the id of the target environment. The work is complete when the answer is sent. */
export const CloneAccepted = z.object({
  message: z.string(),
  workflow_id: z.string(),
  run_id: z.string(),
});

export const EnvironmentSearch = searchSchemas({
  fields: {
    name: 'text',
    type: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: () => ({}),
});

export const Environment = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.enum(ENVIRONMENT_TYPES),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Environment' });
export type Environment = z.infer<typeof Environment>;

export const EnvironmentList = z.object({
  environments: z.array(Environment),
  total: z.int(),
  offset: z.int(),
  limit: z.int(),
});
