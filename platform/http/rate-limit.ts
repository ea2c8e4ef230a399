import type { FastifyReply, FastifyRequest } from 'fastify';
import { BillingError } from '../../domain/errors.ts';
import type { Identity } from '../identity/identity.ts';
import type { RateAnswer, RateLimit, RateLimiter } from '../cache/rate-limiter.ts';
import { networkOf } from '../network.ts';

/** The limiter, and the limits of one caller. */
export interface CallerLimit {
  readonly limiter: RateLimiter;
  /** Limit of a key or a person. */
  readonly limit: RateLimit;
  /** Limit of one portal session; default `limit`. */
  readonly portal?: RateLimit;
  /**
   * Limit of one address without a credential (sign-up, login, single sign-on), and with a refused
   * credential.
   */
  readonly anonymous?: RateLimit;
}

/**
 * Puts a limiter's answer into the rate headers (the IETF names, and the older `X-` names that clients know).
 * Refuses with 429 `rate_limited` and `Retry-After` if the answer is a refusal. Null means not known yet.
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
 * Counts a refused credential against the address that sent it, separately from its other requests: 429
 * instead of 401 when it sends too many. Callers with a valid credential at the same address are not
 * affected.
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

/** Counts the request against its credential, or against its address if it has none. */
export async function takeRequest(
  callerLimit: CallerLimit | null,
  identity: Identity,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (callerLimit === null) return;
  const { limiter } = callerLimit;
  const [caller, limit] = limitedAs(identity, request, callerLimit);
  refuseBeyond(await limiter.take(`api:${caller}`, 1, limit), limit, 'requests', reply);
}

/** The name of the bucket that counts the caller's requests, and its limit. */
function limitedAs(
  identity: Identity,
  request: FastifyRequest,
  { limit, portal = limit, anonymous = limit }: CallerLimit,
): [caller: string, limit: RateLimit] {
  switch (identity.kind) {
    case 'key':
      return [identity.key_id, limit];
    case 'person':
      return [identity.user_id, limit];
    case 'customer':
      return [`portal ${identity.session_id}`, portal];
    case 'nobody':
      return [`address ${networkOf(request.ip)}`, anonymous];
    default:
      return identity satisfies never;
  }
}
