import { z } from 'zod';
import { SecretData, SyncConfig } from './connection.ts';
import { IntegrationMapping } from './customer.ts';
import {
  id,
  instant,
  name,
  optionalChoice,
  optionalMetadata,
  optionalOneOf,
} from './primitives.ts';
import { PageQuery } from './search.ts';
import { CONNECTION_PROVIDERS, LINKED_ENTITY_TYPES, LINKED_PROVIDERS } from './words.ts';

const entityType = z.enum(LINKED_ENTITY_TYPES);
const providerType = z.enum(LINKED_PROVIDERS);

export const LinkBody = z.object({
  entity_type: entityType,
  entity_id: id,
  provider_type: providerType,
  provider_entity_id: name(),
  metadata: optionalMetadata,
});
export type LinkBody = z.output<typeof LinkBody>;

export const UnlinkBody = z.object({
  entity_type: entityType,
  entity_id: id,
  provider_type: providerType,
});
export type UnlinkBody = z.output<typeof UnlinkBody>;

export const MappingQuery = PageQuery.extend({ entity_type: entityType, entity_id: id });

export const SyncBody = z.object({
  entity_type: entityType,
  entity_id: id,
  method: optionalOneOf(['push', 'pull']),
  /** Syncs only to this provider; without it to every connection that accepts records of this kind. */
  provider_type: optionalChoice(providerType),
});
export type SyncBody = z.output<typeof SyncBody>;

export const LinkedMapping = z.object({ mapping: IntegrationMapping });

export const IntegrationConfig = z
  .object({
    integrations: z.array(
      z.object({
        provider: z.enum(CONNECTION_PROVIDERS),
        base_config: SyncConfig,
        current_config: SyncConfig,
      }),
    ),
  })
  .meta({ id: 'IntegrationConfig' });

export const ProviderParams = z.object({ provider: z.enum(CONNECTION_PROVIDERS) });

/** The older form of `POST /connections`. */
export const CreateIntegrationBody = z.object({
  name: name(),
  credentials: SecretData.nullish(),
  metadata: optionalMetadata,
});

/** A connection in the form of older clients: a secret without its value. */
export const IntegrationSecret = z
  .object({
    id: z.string(),
    name: z.string(),
    type: z.literal('integration'),
    provider: z.enum(CONNECTION_PROVIDERS),
    display_id: z.string(),
    roles: z.array(z.string()),
    user_type: z.string(),
    expires_at: z.null(),
    last_used_at: z.null(),
    status: z.string(),
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'IntegrationSecret' });

export const LinkedProviders = z.object({ providers: z.array(z.string()) });
