import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Cache } from './cache.ts';
import { InProcessRateLimiter } from './in-process-rate-limiter.ts';

const VALUES_MAX = 50_000;

/** The cache of a single process. */
export class InProcessCache implements Cache {
  readonly limiter: InProcessRateLimiter;
  readonly #clock: Clock;
  readonly #values = new LRUCache<string, { readonly value: string; readonly until: number }>({
    max: VALUES_MAX,
  });
  readonly #listeners = new Set<(key: string | null) => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.limiter = new InProcessRateLimiter(clock);
  }

  get(key: string): Promise<string | null> {
    const found = this.#values.get(key);
    const isAlive = found !== undefined && found.until > this.#clock.now();
    return Promise.resolve(isAlive ? found.value : null);
  }

  set(key: string, value: string, ttlMs: number): Promise<void> {
    this.#values.set(key, { value, until: this.#clock.now() + ttlMs });
    return Promise.resolve();
  }

  forget(key: string): Promise<void> {
    this.#values.delete(key);
    for (const listener of this.#listeners) listener(key);
    return Promise.resolve();
  }

  onForget(listener: (key: string | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#values.clear();
    this.#listeners.clear();
    return Promise.resolve();
  }
}
