import type { FastifyReply, FastifyRequest } from 'fastify';
import { BillingError } from '../../domain/errors.ts';
import type { RateAnswer, RateLimit, RateLimiter } from '../cache/rate-limiter.ts';
import { networkOf } from '../network.ts';

/** Who limits, and how much of what one caller may spend. */
export interface CallerLimit {
  readonly limiter: RateLimiter;
  /** Of a key or a person. */
  readonly limit: RateLimit;
  /** Of one portal session; `limit` where it is left out. */
  readonly portal?: RateLimit;
  /** Of one address without a credential: sign-up, login, single sign-on; and of those whose credential is refused. */
  readonly anonymous?: RateLimit;
}

/**
 * Puts a limiter's answer into the rate headers (the IETF names, and the older `X-` ones that clients
 * know), and refuses with 429 `rate_limited` and `Retry-After` when it was no. Null: not known yet.
 * `spent`: what is counted, for the message.
 */
export function refuseBeyond(
  answer: RateAnswer | null,
  { perSecond, burst }: RateLimit,
  spent: string,
  reply: FastifyReply,
): void {
  if (answer === null) return;
  const resetSeconds = Math.ceil(answer.resetMs / 1000);
  void reply.headers({
    ratelimit: `limit=${perSecond}, remaining=${answer.remaining}, reset=${resetSeconds}`,
    'ratelimit-policy': `${perSecond};w=1;burst=${burst}`,
    'ratelimit-limit': perSecond,
    'ratelimit-remaining': answer.remaining,
    'ratelimit-reset': resetSeconds,
    'x-ratelimit-limit': perSecond,
    'x-ratelimit-remaining': answer.remaining,
    'x-ratelimit-reset': resetSeconds,
  });
  if (answer.allowed) return;
  void reply.header('retry-after', Math.max(1, Math.ceil(answer.retryAfterMs / 1000)));
  throw new BillingError(
    'rate_limited',
    'rate_limited',
    `More than ${perSecond} ${spent} a second. Send again after the time in Retry-After.`,
  );
}

/**
 * Counts a credential that was refused against the address that sent it, apart from its other requests: 429
 * in place of 401 when it sends too many. Whoever shares the address and has a good credential is not
 * concerned.
 */
export async function countRefusedCredential(
  failures: Pick<CallerLimit, 'limiter' | 'limit' | 'anonymous'> | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (failures === null) return;
  const { limiter, limit, anonymous = limit } = failures;
  const bucket = `refused:${networkOf(request.ip)}`;
  const answer = await limiter.take(bucket, 1, anonymous);
  if (!answer.allowed) refuseBeyond(answer, anonymous, 'refused credentials', reply);
}
