import type { SyncConfig, SyncConfigBody } from '../../../schemas/connection.ts';
import { SYNCED_ENTITIES } from '../../../schemas/words.ts';

const OFF = { inbound: false, outbound: false };

/** Default of a connection: syncs no record of any kind. */
export const SYNC_NOTHING: SyncConfig = {
  ...(Object.fromEntries(SYNCED_ENTITIES.map((entity) => [entity, OFF])) as Record<
    (typeof SYNCED_ENTITIES)[number],
    typeof OFF
  >),
  s3: null,
  aws_marketplace: null,
  invoice_sync_settings: null,
};

/** Merges the sent config into the stored one, kind by kind; null switches a kind off. */
export function mergeSyncConfig(
  stored: SyncConfig,
  sent: SyncConfigBody | null | undefined,
): SyncConfig {
  if (sent === undefined) return stored;
  if (sent === null) return SYNC_NOTHING;
  const directions = SYNCED_ENTITIES.map((entity) => {
    const given = sent[entity];
    if (given === undefined) return [entity, stored[entity]];
    return [entity, { inbound: given?.inbound ?? false, outbound: given?.outbound ?? false }];
  });
  return {
    ...stored,
    ...(Object.fromEntries(directions) as Partial<SyncConfig>),
    ...(sent.s3 === undefined ? {} : { s3: sent.s3 }),
    ...(sent.aws_marketplace === undefined ? {} : { aws_marketplace: sent.aws_marketplace }),
    ...(sent.invoice_sync_settings === undefined
      ? {}
      : { invoice_sync_settings: sent.invoice_sync_settings }),
  };
}
