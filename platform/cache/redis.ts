import { Redis } from 'ioredis';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Cache } from './cache.ts';
import { InProcessRateLimiter } from './in-process-rate-limiter.ts';
import { isRedisOutage } from './redis-outage.ts';
import {
  msPerToken,
  rateAnswer,
  refusedAboveMs,
  type RateAnswer,
  type RateLimit,
  type RateLimiter,
} from './rate-limiter.ts';

export interface RedisCacheOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Time limit of a reply; after it the process continues without Redis. */
  readonly timeoutMs?: number;
}

const PREFIX = 'meterline:';
const FORGET_CHANNEL = `${PREFIX}forget`;

/** Takes from a bucket on the server's clock, so that the clocks of our processes need not agree. */
const TAKE_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local missing = math.max(0, tonumber(redis.call('GET', KEYS[1]) or '0') - now)
local allowed = missing <= tonumber(ARGV[1])
if allowed then
  missing = missing + tonumber(ARGV[2])
  redis.call('SET', KEYS[1], string.format('%.3f', now + missing), 'PX', math.ceil(missing) + 1000)
end
return { allowed and 1 or 0, string.format('%.3f', missing) }`;

/**
 * The cache of several processes. While Redis is unavailable, each process applies its own limits and finds
 * no values.
 */
export async function connectRedisCache(options: RedisCacheOptions): Promise<Cache> {
  const cache = new RedisCache(options);
  await cache.open();
  return cache;
}

class RedisCache implements Cache {
  readonly limiter: RateLimiter;
  readonly #logger: Logger;
  readonly #commands: Redis;
  readonly #notices: Redis;
  readonly #listeners = new Set<(key: string | null) => void>();
  #isAway = false;

  constructor({ url, clock, logger, timeoutMs = 250 }: RedisCacheOptions) {
    this.#logger = logger;
    const common = {
      lazyConnect: true,
      connectTimeout: Math.max(500, timeoutMs),
      retryStrategy: (attempt: number) => Math.min(50 * attempt, 1_000),
      maxRetriesPerRequest: 0,
    };
    this.#commands = new Redis(url, {
      ...common,
      // A command that cannot be sent now fails instead of being queued.
      enableOfflineQueue: false,
      commandTimeout: timeoutMs,
      enableAutoPipelining: true,
    });
    this.#notices = new Redis(url, { ...common, autoResubscribe: false });
    this.limiter = new RedisRateLimiter(clock, (bucket, amount, limit) =>
      this.#try(() => this.#take(bucket, amount, limit), null),
    );
    for (const connection of [this.#commands, this.#notices])
      connection.on('error', (error: unknown) => this.#away(error));
    this.#commands.on('ready', () => this.#back());
    // Subscribed on every new connection here, not by the driver: the driver drops a subscribe error.
    this.#notices.on('ready', () => {
      this.#notices.subscribe(FORGET_CHANNEL).then(
        // Notices may have been missed while disconnected.
        () => this.#tell(null),
        (error: unknown) => this.#away(error),
      );
    });
    this.#notices.on('message', (_channel, key) => this.#tell(key));
  }

  /** Redis being unavailable at the start is handled like a later outage. */
  async open(): Promise<void> {
    await Promise.all([
      this.#try(() => this.#commands.connect(), undefined),
      this.#try(() => this.#notices.connect(), undefined),
    ]);
  }

  get(key: string): Promise<string | null> {
    return this.#try(() => this.#commands.get(PREFIX + key), null);
  }

  async set(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#try(() => this.#commands.set(PREFIX + key, value, 'PX', Math.ceil(ttlMs)), null);
  }

  async forget(key: string): Promise<void> {
    await this.#try(() => this.#commands.del(PREFIX + key), 0);
    const heard = await this.#try(() => this.#commands.publish(FORGET_CHANNEL, key), 0);
    // No process received it, not even this one: notify at least the local listeners.
    if (heard === 0) this.#tell(key);
  }

  onForget(listener: (key: string | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#listeners.clear();
    this.#commands.disconnect();
    this.#notices.disconnect();
    return Promise.resolve();
  }

  async #take(bucket: string, amount: number, limit: RateLimit): Promise<RemoteTaking> {
    const [allowed, missing] = (await this.#commands.eval(
      TAKE_SCRIPT,
      1,
      `${PREFIX}rate:${bucket}`,
      refusedAboveMs(limit),
      amount * msPerToken(limit),
    )) as [number, string];
    return { allowed: allowed === 1, missingMs: Number(missing) };
  }

  async #try<Value>(ask: () => Promise<Value>, otherwise: Value): Promise<Value> {
    try {
      return await ask();
    } catch (error) {
      // One timeout is enough: reconnect, and until the connection is ready no command waits for it.
      if (isTimeout(error) && this.#commands.status === 'ready') this.#commands.disconnect(true);
      if (isRedisOutage(error)) this.#away(error);
      else this.#logger.error({ err: error }, 'redis refused a command');
      return otherwise;
    }
  }

  #tell(key: string | null): void {
    for (const listener of this.#listeners) listener(key);
  }

  /** Logged when the state changes, not with every command. */
  #away(error: unknown): void {
    if (!this.#isAway)
      this.#logger.warn({ err: error }, 'redis is unavailable: continuing without it');
    this.#isAway = true;
  }

  #back(): void {
    if (this.#isAway) this.#logger.info('redis is back');
    this.#isAway = false;
  }
}

const isTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Command timed out';

interface RemoteTaking {
  readonly allowed: boolean;
  readonly missingMs: number;
}

/**
 * Queries Redis and remembers its answers, so that the limits continue from there when Redis does not answer.
 */
class RedisRateLimiter implements RateLimiter {
  readonly #local: InProcessRateLimiter;
  readonly #ask: (bucket: string, amount: number, limit: RateLimit) => Promise<RemoteTaking | null>;

  constructor(
    clock: Clock,
    ask: (bucket: string, amount: number, limit: RateLimit) => Promise<RemoteTaking | null>,
  ) {
    this.#local = new InProcessRateLimiter(clock);
    this.#ask = ask;
  }

  async take(bucket: string, amount: number, limit: RateLimit): Promise<RateAnswer> {
    const taking = await this.#ask(bucket, amount, limit);
    if (taking === null) return this.#local.take(bucket, amount, limit);
    this.#local.learn(bucket, taking.missingMs);
    return rateAnswer(taking.allowed, taking.missingMs, limit);
  }

  refusal(bucket: string, limit: RateLimit): RateAnswer | null {
    return this.#local.refusal(bucket, limit);
  }
}
