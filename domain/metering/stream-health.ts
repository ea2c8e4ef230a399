/** Inputs of the stream's health check. */
export interface StreamState {
  /** Partitions stopped because of a fault in their log. */
  readonly stopped: number;
  /** Partitions that were assigned to a process and refused by it recently. */
  readonly refused: number;
  /** Whether a batch waits for an unavailable store. */
  readonly waitsForStore: boolean;
  /**
   * How long records have waited without progress of their partition's watermark, in ms; 0 means none wait.
   */
  readonly waitingMs: number;
}

/** A partition with records and no progress for this long is stuck. */
export const STUCK_AFTER_MS = 120_000;

/**
 * `down` when events wait and only an operator or a newer version can help: a partition is stopped,
 * refused or stuck. `degraded` while a store is unavailable: the stream continues automatically.
 */
export function streamHealth(state: StreamState): 'up' | 'degraded' | 'down' {
  if (state.stopped > 0 || state.refused > 0) return 'down';
  if (state.waitsForStore) return 'degraded';
  return state.waitingMs > STUCK_AFTER_MS ? 'down' : 'up';
}
