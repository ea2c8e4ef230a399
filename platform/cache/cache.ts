import type { RateLimiter } from './rate-limiter.ts';

/**
 * What processes may remember together. Nothing here is a truth: it may be empty, forget anything at
 * any moment, or be away, and then it costs time and no more. So no method throws.
 */
export interface Cache {
  readonly limiter: RateLimiter;
  /** The value, or null: never set, run out, forgotten, or out of reach. */
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /**
   * Removes the value here and tells every process's listeners, for those that remember what they made
   * of it. A notice can get lost; what must not be believed for longer than that needs a short life of its own.
   */
  forget(key: string): Promise<void>;
  /**
   * Hears every `forget`, also this process's own. Null: notices may have been missed, so everything
   * should be forgotten. Answers how to stop listening.
   */
  onForget(listener: (key: string | null) => void): () => void;
  close(): Promise<void>;
}
