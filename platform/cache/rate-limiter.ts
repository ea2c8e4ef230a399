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
 * Token buckets by name. A taking is allowed while a whole token is there, and may overdraw the bucket: what
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
 * The arithmetic that all limiters share. A bucket is one number: in how many milliseconds it will be
 * full again. Taking adds to it; time takes away from it.
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
/** With more than this missing there is no whole token; a thousandth of one forgives rounding. */
export const refusedAboveMs = (limit: RateLimit): number =>
  (limit.burst - 0.999) * msPerToken(limit);

/** How a taking is answered, by what is missing after it. */
export function rateAnswer(allowed: boolean, missingMs: number, limit: RateLimit): RateAnswer {
  const spareMs = burstMs(limit) - missingMs;
  return {
    allowed,
    remaining: Math.max(0, Math.floor(spareMs / msPerToken(limit) + 0.001)),
    retryAfterMs: Math.ceil(Math.max(0, missingMs - refusedAboveMs(limit))),
    resetMs: Math.ceil(missingMs),
  };
}
