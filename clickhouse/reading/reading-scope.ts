import { pairKey, type UsagePair, type UsageScope } from '../queries/usage-scope.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;

/** What the queries, at least one, read together: their customers, meter versions and whole UTC days. */
export function scopeOfTallies(tallies: readonly UsageTally[]): UsageScope {
  const { tenant_id, environment_id } = tallies[0]!.plan.query;
  const pairs = new Map<string, UsagePair>();
  const versions = new Set<string>();
  let isEverybody = false;
  let start = Infinity;
  let end = 0;
  for (const { plan } of tallies) {
    const { meter_version_id, external_customer_ids } = plan.query;
    versions.add(meter_version_id);
    isEverybody ||= external_customer_ids === null;
    for (const external_customer_id of external_customer_ids ?? []) {
      const pair = { external_customer_id, meter_version_id };
      pairs.set(pairKey(pair), pair);
    }
    start = Math.min(start, Math.floor(plan.start / DAY_MS) * DAY_MS);
    end = Math.max(end, Math.ceil(plan.end / DAY_MS) * DAY_MS);
  }
  return {
    tenant_id,
    environment_id,
    pairs: isEverybody ? null : [...pairs.values()],
    versions: [...versions],
    start,
    end,
    days: null,
  };
}

/** The scope reduced to some of its pairs and UTC days, at least one of each and any number of times. */
export function scopeOfDays(
  base: UsageScope,
  parts: Iterable<UsagePair & { readonly day: number }>,
): UsageScope {
  const pairs = new Map<string, UsagePair>();
  const days = new Set<number>();
  for (const { day, external_customer_id, meter_version_id } of parts) {
    const pair = { external_customer_id, meter_version_id };
    pairs.set(pairKey(pair), pair);
    days.add(day);
  }
  const sorted = [...days].sort((a, b) => a - b);
  return {
    ...base,
    pairs: [...pairs.values()],
    start: sorted[0]!,
    end: sorted.at(-1)! + DAY_MS,
    days: sorted,
  };
}
