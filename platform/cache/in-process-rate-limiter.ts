import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { takeFrom, type RateAnswer, type RateLimit, type RateLimiter } from './rate-limiter.ts';

const BUCKETS_MAX = 100_000;

/**
 * Buckets of this process only. Beyond a hundred thousand, the least recently used bucket is evicted, which
 * resets it to full.
 */
export class InProcessRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  /** When each bucket is full again. */
  readonly #fullAt = new LRUCache<string, number>({ max: BUCKETS_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(bucket: string, amount: number, limit: RateLimit): Promise<RateAnswer> {
    const { answer, missingMs } = takeFrom(this.#missingMs(bucket), amount, limit);
    this.learn(bucket, missingMs);
    return Promise.resolve(answer);
  }

  refusal(bucket: string, limit: RateLimit): RateAnswer | null {
    const { answer } = takeFrom(this.#missingMs(bucket), 0, limit);
    return answer.allowed ? null : answer;
  }

  /** Takes over the state of a bucket from the shared limiter. */
  learn(bucket: string, missingMs: number): void {
    this.#fullAt.set(bucket, this.#clock.now() + missingMs);
  }

  #missingMs(bucket: string): number {
    return (this.#fullAt.get(bucket) ?? 0) - this.#clock.now();
  }
}
