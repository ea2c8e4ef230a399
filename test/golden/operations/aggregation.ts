import type { Period } from '../../../domain/time/instant.ts';
import { inAnyOrder, type JsonObject } from '../compare.ts';
import type { AreaOperations } from '../operation.ts';
import { usageOf, type MeteringCase } from './metering-case.ts';

function question(given: JsonObject): MeteringCase {
  const meter = given['meter'] as JsonObject;
  return {
    aggregation: meter['aggregation'] as JsonObject,
    filters: meter['filters'] as never as MeteringCase['filters'],
    reset_usage: meter['reset_usage'] as MeteringCase['reset_usage'],
    events: given['events'] as never as MeteringCase['events'],
    period: given['window'] as never as Period,
    group_by: (given['group_by'] ?? []) as string[],
    bucket_size: (given['bucket_size'] ?? null) as MeteringCase['bucket_size'],
    timezone: (given['customer_timezone'] ?? '') as string,
  };
}

export const aggregation: AreaOperations = {
  peers: (given) => {
    const asked = question(given);
    const rows = usageOf(asked);
    return {
      value: rows[0]?.quantity,
      groups: inAnyOrder(
        rows.map(({ group, quantity }) => ({
          // The cases write the group of a missing property as null; ours is the empty string (metering 6).
          group: Object.fromEntries(
            asked.group_by.map((name, index) => [name, group[index] === '' ? null : group[index]]),
          ),
          value: quantity,
        })),
      ),
      buckets: rows.map(({ window_start, quantity }) => ({ start: window_start, value: quantity })),
    };
  },
};
