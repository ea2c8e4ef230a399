import type { Pool, Scope } from '../client.ts';
import { readSetting } from './settings.ts';

/** The customers whose events an environment wants, by external id; null: all customers. */
export type WantedCustomers = ReadonlySet<string> | null;
export type EventFilters = (scope: Scope) => Promise<WantedCustomers>;

/** How long the setting of an environment is used without reading it again. */
const KEPT_MS = 5_000;
/** Sum of the ids that are kept; beyond it everything is read again. */
const IDS_MAX = 1_000_000;

/**
 * Reads the setting `event_ingestion_filter` of an environment (metering 2). Ingest asks for every request, so an
 * answer is kept for five seconds.
 */
export function createEventFilters(pool: Pool, clock: { now(): number }): EventFilters {
  const known = new Map<string, { readonly wanted: WantedCustomers; readonly until: number }>();
  let ids = 0;
  return async (scope) => {
    const key = `${scope.tenant_id} ${scope.environment_id}`;
    const before = known.get(key);
    if (before !== undefined && before.until > clock.now()) return before.wanted;
    const filter = await readSetting(pool, scope, 'event_ingestion_filter');
    const wanted = filter.enabled ? new Set(filter.allowed_external_customer_ids) : null;
    ids += (wanted?.size ?? 0) + 1;
    if (ids > IDS_MAX) {
      known.clear();
      ids = (wanted?.size ?? 0) + 1;
    }
    known.set(key, { wanted, until: clock.now() + KEPT_MS });
    return wanted;
  };
}
