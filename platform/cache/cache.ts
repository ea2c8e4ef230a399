import type { RateLimiter } from './rate-limiter.ts';

/**
 * State that processes share. It is never authoritative: it may be empty, lose any value at any time, or be
 * unavailable. That costs time only, so no method throws.
 */
export interface Cache {
  readonly limiter: RateLimiter;
  /** The value; null if it was never set, has expired, was evicted, or is unreachable. */
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /**
   * Removes the value here and notifies the listeners of every process, which may hold results derived from
   * it. A notice can get lost: a value that must not stay stale for long needs a short TTL of its own.
   */
  forget(key: string): Promise<void>;
  /**
   * Receives every `forget`, including this process's own. Null means that notices may have been missed and
   * the listener should forget everything. Returns a function that stops listening.
   */
  onForget(listener: (key: string | null) => void): () => void;
  close(): Promise<void>;
}
