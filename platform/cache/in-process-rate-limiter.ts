import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { takeFrom, type RateAnswer, type RateLimit, type RateLimiter } from './rate-limiter.ts';

const BUCKETS_MAX = 100_000;

/** Buckets of this process alone. Those that were not used for longest are forgotten first: full. */
export class InProcessRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #fullAt = new LRUCache<string, number>({ max: BUCKETS_MAX });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(bucket: string, amount: number, limit: RateLimit): Promise<RateAnswer> {
    const { answer, fullAt } = takeFrom(
      this.#fullAt.get(bucket) ?? 0,
      this.#clock.now(),
      amount,
      limit,
    );
    this.#fullAt.set(bucket, fullAt);
    return Promise.resolve(answer);
  }

  refusal(bucket: string, limit: RateLimit): RateAnswer | null {
    const { answer } = takeFrom(this.#fullAt.get(bucket) ?? 0, this.#clock.now(), 0, limit);
    return answer.allowed ? null : answer;
  }
}
