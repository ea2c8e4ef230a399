import assert from 'node:assert/strict';
import type { Instant } from './instant.ts';

/** The time that a test clock had from a real instant until the next. */
export interface ClockTime {
  readonly real_from: Instant;
  readonly now: Instant;
}

/**
 * The time that a test clock had at a real instant (billing 22.5): its first time before it was created, and during
 * an advance the time before the advance. `times` are in order and begin with the clock's creation.
 */
export function clockTimeAt(times: readonly ClockTime[], real: Instant): Instant {
  const [first] = times;
  assert(first, 'a test clock without times');
  return (times.findLast(({ real_from }) => real_from <= real) ?? first).now;
}
