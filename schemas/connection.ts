import { z } from 'zod';
import { isEmpty, onlyEmpty } from './not-offered.ts';
import {
  name,
  optionalChoice,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  pairs,
  recordFields,
  text,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { bucket, COMPRESSIONS, ENCRYPTIONS } from './storage.ts';
import { BILLING_PERIODS, CONNECTION_PROVIDERS, SYNCED_ENTITIES } from './words.ts';

/**
 * Directions in which records of one kind are copied: to this service (inbound), to the other service
 * (outbound).
 */
const Directions = z.object({ inbound: z.boolean(), outbound: z.boolean() });
const DirectionsBody = z.object({
  inbound: z.boolean().nullish(),
  outbound: z.boolean().nullish(),
});

const perEntity = <Value extends z.ZodType>(value: Value) =>
  Object.fromEntries(SYNCED_ENTITIES.map((entity) => [entity, value])) as Record<
    (typeof SYNCED_ENTITIES)[number],
    Value
  >;

/** Defaults of scheduled exports over the connection, for fields that their `job_config` omits. */
const S3ExportBody = z.object({
  bucket: optionalChoice(bucket),
  region: text(64).nullish(),
  key_prefix: text(512).nullish(),
  compression: optionalOneOf(COMPRESSIONS),
  encryption: optionalOneOf(ENCRYPTIONS),
});
const S3Export = z.object({
  bucket: z.string().nullish(),
  region: z.string().nullish(),
  key_prefix: z.string().nullish(),
  compression: z.enum(COMPRESSIONS).nullish(),
  encryption: z.enum(ENCRYPTIONS).nullish(),
});
const AwsMarketplace = z.object({ region: text(64).nullish() });
const InvoiceSyncSettings = z.object({
  normalize_fixed_to: z.enum(BILLING_PERIODS).nullish(),
  metadata_custom_fields: z.array(pairs(z.unknown(), 256)).max(100).nullish(),
  service_period_custom_fields: pairs(z.unknown(), 256).nullish(),
});

export const SyncConfigBody = z.object({
  ...perEntity(DirectionsBody.nullish()),
  s3: S3ExportBody.nullish(),
  // No adapter would read them.
  aws_marketplace: AwsMarketplace.nullish().refine(
    isEmpty,
    onlyEmpty('a region of AWS Marketplace'),
  ),
  invoice_sync_settings: InvoiceSyncSettings.extend({
    normalize_fixed_to: optionalOneOf(BILLING_PERIODS),
  })
    .nullish()
    .refine(isEmpty, onlyEmpty('settings of invoices in another system')),
});
export type SyncConfigBody = z.output<typeof SyncConfigBody>;

export const SyncConfig = z
  .object({
    ...perEntity(Directions),
    s3: S3Export.nullable(),
    aws_marketplace: AwsMarketplace.nullable(),
    invoice_sync_settings: InvoiceSyncSettings.nullable(),
  })
  .meta({ id: 'SyncConfig' });
export type SyncConfig = z.infer<typeof SyncConfig>;

/** Secrets that the product itself reads; they must be text. */
const SECRETS_READ: ReadonlySet<string> = new Set([
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'secret_key',
  'webhook_secret',
]);

/**
 * Keys, account numbers and similar values, named as the provider names them. Stored encrypted, never
 * returned.
 */
export const SecretData = pairs(
  z.union([
    text(20_000).refine((value) => value.trim() !== '', 'is required'),
    z.boolean(),
    z.number(),
  ]),
  50,
  text(100).min(1),
).superRefine((secrets, context) => {
  for (const [key, value] of Object.entries(secrets))
    if (SECRETS_READ.has(key) && typeof value !== 'string')
      context.addIssue({ code: 'custom', path: [key], message: 'expected text' });
});

export const CreateConnectionBody = z.object({
  name: name(),
  provider_type: z.enum(CONNECTION_PROVIDERS),
  encrypted_secret_data: SecretData.nullish(),
  gateway_account_id: optionalText(),
  sync_config: SyncConfigBody.nullish(),
  metadata: optionalMetadata,
});
export type CreateConnectionBody = z.output<typeof CreateConnectionBody>;

/** `encrypted_secret_data` replaces the stored secrets; null deletes them. */
export const UpdateConnectionBody = z.object({
  name: name().optional(),
  encrypted_secret_data: SecretData.nullish(),
  gateway_account_id: optionalText(),
  sync_config: SyncConfigBody.nullish(),
  metadata: optionalMetadata,
});
export type UpdateConnectionBody = z.output<typeof UpdateConnectionBody>;

export const Connection = z
  .object({
    ...recordFields,
    name: z.string(),
    provider_type: z.enum(CONNECTION_PROVIDERS),
    gateway_account_id: z.string().nullable(),
    sync_config: SyncConfig,
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'Connection' });
export type Connection = z.infer<typeof Connection>;

/** The list is under `connections`, next to the paging fields. */
export const ConnectionList = z
  .object({
    connections: z.array(Connection),
    total: z.int(),
    limit: z.int(),
    /** The requested offset. */
    offset: z.int(),
  })
  .meta({ id: 'ConnectionList' });

export const ConnectionSearch = searchSchemas({
  fields: {
    id: 'text',
    name: 'text',
    provider_type: 'text',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({
    connection_ids: kind.list(),
    provider_type: kind.oneOf(CONNECTION_PROVIDERS),
  }),
});
