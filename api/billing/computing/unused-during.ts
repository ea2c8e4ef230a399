import type { ExcludedDuring } from '../../../domain/metering/usage.ts';
import { earlierOf } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';

/**
 * What a question about usage until `end` leaves out: usage of pauses (billing 12.3). It names all pauses that begin
 * before `end`, because a counter may be older than the question.
 */
export const unusedDuring = (pauses: readonly PausedTime[], end: string): ExcludedDuring[] =>
  pauses
    .filter(({ start }) => start < end)
    .map((pause) => ({
      start: pause.start,
      end: earlierOf(end, pause.end),
      filter_values: {},
      external_customer_ids: null,
    }));
