import type { Instant } from '../time/instant.ts';
import type { UsageRow } from './usage.ts';
import type { UsageWindow } from '../time/usage-windows.ts';

/**
 * A range of usage that rating needs: the time and the windows of a `UsageQuery`. The caller adds
 * customers, meter version and filters; these are the same for all questions of a line.
 */
export interface UsageQuestion {
  /** Unique among the questions of one line and charge cell. */
  readonly key: string;
  /** Half-open `[start, end)`. */
  readonly start: Instant;
  readonly end: Instant;
  readonly window: UsageWindow | null;
}

/** Rows by the key of their question. A question without rows has no usage. */
export type UsageReplies = ReadonlyMap<string, readonly UsageRow[]>;
