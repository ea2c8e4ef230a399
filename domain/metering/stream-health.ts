/** What is known of the stream when somebody asks whether it works. */
export interface StreamState {
  /** Partitions that are stopped because of their log. */
  readonly stopped: number;
  /** Partitions that a process was given and refused in the last moments. */
  readonly refused: number;
  /** Whether a batch waits for a store to come back. */
  readonly waitsForStore: boolean;
  /** For how long records have waited while no watermark of their partition moved, in ms; 0: none wait. */
  readonly waitingMs: number;
}

/** After this a partition that has records and does not move is stuck. */
export const STUCK_AFTER_MS = 120_000;

/**
 * `down` when events wait and only a person or a newer version can help: a partition that is stopped,
 * refused or stuck. `degraded` while a store is away: the stream goes on by itself.
 */
export function streamHealth(state: StreamState): 'up' | 'degraded' | 'down' {
  if (state.stopped > 0 || state.refused > 0) return 'down';
  if (state.waitsForStore) return 'degraded';
  return state.waitingMs > STUCK_AFTER_MS ? 'down' : 'up';
}
