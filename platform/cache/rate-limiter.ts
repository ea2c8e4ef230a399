/** What a caller may spend: `perSecond` on average, and up to `burst` at once after a pause. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateAnswer {
  readonly allowed: boolean;
  /** What could be spent now. */
  readonly remaining: number;
  /** When something can be spent again; 0 when it can now. */
  readonly retryAfterMs: number;
  /** When the whole burst is there again. */
  readonly resetMs: number;
}

/**
 * Token buckets by name. A taking is allowed while the bucket is not empty, and may overdraw it: what
 * costs more than the burst is possible, and paid for by waiting afterwards. So the average holds
 * for every size. Never throws: a limiter that is away limits by what this process has seen.
 */
export interface RateLimiter {
  take(bucket: string, amount: number, limit: RateLimit): Promise<RateAnswer>;
  /**
   * The refusal that `take` would give, as far as this process knows, at no cost; null when it does
   * not know of one. For refusing before the work that finds the amount out.
   */
  refusal(bucket: string, limit: RateLimit): RateAnswer | null;
}

/**
 * The arithmetic both limiters share. A bucket is one number, the time at which it will be full again
 * (epoch milliseconds); taking moves it forward. Missing and past times mean a full bucket.
 */
export function takeFrom(
  fullAt: number,
  now: number,
  amount: number,
  limit: RateLimit,
): { readonly answer: RateAnswer; readonly fullAt: number } {
  const msPerToken = 1000 / limit.perSecond;
  const burstMs = limit.burst * msPerToken;
  const from = Math.max(fullAt, now);
  const allowed = from - now < burstMs;
  const until = allowed ? from + amount * msPerToken : from;
  const missingMs = until - now;
  return {
    fullAt: until,
    answer: {
      allowed,
      remaining: Math.max(0, Math.floor((burstMs - missingMs) / msPerToken)),
      retryAfterMs: Math.max(0, Math.ceil(missingMs - burstMs + msPerToken)),
      resetMs: Math.max(0, Math.ceil(missingMs)),
    },
  };
}
