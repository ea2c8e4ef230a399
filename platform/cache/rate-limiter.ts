/** What a caller may use: `perSecond` on average, and up to `burst` at once after a pause. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

export interface RateAnswer {
  readonly allowed: boolean;
  /** Tokens available now. */
  readonly remaining: number;
  /** When a token is available again; 0 when one is available now. */
  readonly retryAfterMs: number;
  /** When the bucket is full again. */
  readonly resetMs: number;
}

/**
 * Token buckets by name. A request is allowed while a whole token is left, and may overdraw the bucket: a
 * request that costs more than the burst is possible, and the caller waits afterwards. So the average holds
 * for every size. Never throws: when the limiter is unavailable, it limits by what this process has counted.
 */
export interface RateLimiter {
  take(bucket: string, amount: number, limit: RateLimit): Promise<RateAnswer>;
  /**
   * The refusal that `take` would give, as far as this process knows, at no cost; null when it knows of none.
   * Used to refuse before the work that computes the amount.
   */
  refusal(bucket: string, limit: RateLimit): RateAnswer | null;
}

/**
 * The arithmetic that all limiters share. A bucket is one number: in how many milliseconds it will be full. A
 * request adds to it; time reduces it.
 */
export function takeFrom(missingMs: number, amount: number, limit: RateLimit): Taking {
  const before = Math.max(0, missingMs);
  const allowed = before <= refusedAboveMs(limit);
  const after = allowed ? before + amount * msPerToken(limit) : before;
  return { missingMs: after, answer: rateAnswer(allowed, after, limit) };
}

export interface Taking {
  readonly missingMs: number;
  readonly answer: RateAnswer;
}

export const msPerToken = (limit: RateLimit): number => 1000 / limit.perSecond;
const burstMs = (limit: RateLimit): number => limit.burst * msPerToken(limit);
/** If more than this is missing, no whole token is left; a thousandth of a token allows for rounding. */
export const refusedAboveMs = (limit: RateLimit): number =>
  (limit.burst - 0.999) * msPerToken(limit);

/** The answer to a request, from what is missing after it. */
export function rateAnswer(allowed: boolean, missingMs: number, limit: RateLimit): RateAnswer {
  const spareMs = burstMs(limit) - missingMs;
  return {
    allowed,
    remaining: Math.max(0, Math.floor(spareMs / msPerToken(limit) + 0.001)),
    retryAfterMs: Math.ceil(Math.max(0, missingMs - refusedAboveMs(limit))),
    resetMs: Math.ceil(missingMs),
  };
}
