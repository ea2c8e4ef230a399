import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { Cache } from '../../platform/cache/cache.ts';
import { InProcessCache } from '../../platform/cache/in-process.ts';
import { takeFrom } from '../../platform/cache/rate-limiter.ts';
import { connectRedisCache } from '../../platform/cache/redis.ts';
import { systemClock } from '../../platform/clock.ts';
import { startFaultProxy } from '../../bench/kill/fault-proxy.ts';
import { WAIT_MS } from '../support/patience.ts';
import { describeWith } from '../support/requires.ts';
import { poll } from './event-log/contract.ts';

const logger = pino({ level: 'silent' });

/** The contract of every cache implementation. */
function cacheContract(create: () => Promise<Cache>): void {
  let cache: Cache;
  const key = (name: string) => `${name}-${randomBytes(6).toString('hex')}`;
  beforeEach(async () => {
    cache = await create();
  });
  afterEach(() => cache.close());

  test('a value can be read until it is deleted', async () => {
    const name = key('value');
    expect(await cache.get(name)).toBeNull();
    await cache.set(name, 'ü €', 60_000);
    expect(await cache.get(name)).toBe('ü €');
    await cache.set(name, 'second', 60_000);
    expect(await cache.get(name)).toBe('second');
    await cache.forget(name);
    expect(await cache.get(name)).toBeNull();
  });

  test('or until it expires', async () => {
    const [short, long] = [key('short'), key('long')];
    await cache.set(long, 'y', 600_000);
    // One attempt in time is enough: this process may have been paused before.
    await poll(async () => {
      await cache.set(short, 'x', 500);
      return (await cache.get(short)) === 'x';
    });
    await poll(async () => (await cache.get(short)) === null);
    expect(await cache.get(long)).toBe('y');
  });

  test('listeners get a notice of each deletion, until they stop listening', async () => {
    const heard: (string | null)[] = [];
    const stop = cache.onForget((name) => heard.push(name));
    const [first, second] = [key('a'), key('b')];
    await cache.forget(first);
    await poll(() => heard.includes(first));
    stop();
    await cache.forget(second);
    await cache.get(second);
    expect(heard).not.toContain(second);
  });

  test('a bucket allows its burst at once, then refuses', async () => {
    const bucket = key('bucket');
    // An hour for each that is missing: nothing fills up again meanwhile that would be seen.
    const limit = { perSecond: 1 / 3_600, burst: 10 };
    const first = await cache.limiter.take(bucket, 4, limit);
    expect([first.allowed, first.remaining, first.retryAfterMs]).toEqual([true, 6, 0]);
    const second = await cache.limiter.take(bucket, 26, limit);
    expect([second.allowed, second.remaining]).toEqual([true, 0]);
    expect(second.retryAfterMs).toBeGreaterThan(20 * 3_600_000);
    expect(second.retryAfterMs).toBeLessThanOrEqual(21 * 3_600_000 + 1);
    const third = await cache.limiter.take(bucket, 1, limit);
    expect(third.allowed).toBe(false);
    expect(cache.limiter.refusal(bucket, limit)?.allowed).toBe(false);
  });

  test('and refills', async () => {
    const bucket = key('bucket');
    const limit = { perSecond: 50, burst: 10 };
    expect((await cache.limiter.take(bucket, 30, limit)).allowed).toBe(true);
    await poll(async () => (await cache.limiter.take(bucket, 1, limit)).allowed);
  });

  test('buckets are independent, and each of several concurrent calls is counted', async () => {
    const [bucket, other] = [key('shared'), key('other')];
    const limit = { perSecond: 0.001, burst: 20 };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => cache.limiter.take(bucket, 1, limit)),
    );
    expect(answers.filter((answer) => answer.allowed)).toHaveLength(20);
    expect((await cache.limiter.take(other, 1, limit)).allowed).toBe(true);
    expect(cache.limiter.refusal(other, limit)).toBeNull();
  });
}

describe('cache in the process', () =>
  cacheContract(() => Promise.resolve(new InProcessCache(systemClock))));

describeWith('REDIS_URL', 'cache on Redis', (url) => {
  const connect = (address = url, timeoutMs = WAIT_MS) =>
    connectRedisCache({ url: address, clock: systemClock, logger, timeoutMs });

  cacheContract(() => connect());

  test('processes share values, limits and notices', async () => {
    const [one, two] = [await connect(), await connect()];
    const name = randomBytes(6).toString('hex');
    await one.set(name, 'x', 10_000);
    expect(await two.get(name)).toBe('x');
    const limit = { perSecond: 0.001, burst: 3 };
    expect((await one.limiter.take(name, 3, limit)).allowed).toBe(true);
    expect((await two.limiter.take(name, 1, limit)).allowed).toBe(false);
    const heard: (string | null)[] = [];
    two.onForget((key) => heard.push(key));
    await one.forget(name);
    await poll(() => heard.includes(name));
    expect(await two.get(name)).toBeNull();
    await Promise.all([one.close(), two.close()]);
  });

  test.each(['refuse', 'hang'] as const)(
    'while connections %s nothing throws, nothing takes long, limits hold; then all is back',
    async (fault) => {
      const address = new URL(url);
      const proxy = await startFaultProxy({
        host: address.hostname,
        port: Number(address.port || 6379),
      });
      address.hostname = '127.0.0.1';
      address.port = String(proxy.port);
      const timeoutMs = 5_000;
      const cache = await connect(address.toString(), timeoutMs);
      const [name, limit] = [randomBytes(6).toString('hex'), { perSecond: 0.001, burst: 5 }];
      await cache.set(name, 'x', 60_000);
      expect((await cache.limiter.take(name, 3, limit)).remaining).toBe(2);
      const heard: (string | null)[] = [];
      cache.onForget((key) => heard.push(key));

      proxy[fault]();
      const began = performance.now();
      expect(await cache.get(name)).toBeNull();
      await cache.set(name, 'y', 60_000);
      await cache.forget('z');
      expect(heard).toContain('z');
      // Goes on from what Redis said last.
      expect((await cache.limiter.take(name, 2, limit)).allowed).toBe(true);
      expect((await cache.limiter.take(name, 1, limit)).allowed).toBe(false);
      // One timeout at most; what comes after it does not wait: there are six calls that could.
      expect(performance.now() - began).toBeLessThan(5 * timeoutMs);

      proxy.pass();
      await poll(async () => (await cache.get(name)) !== null);
      if (fault === 'refuse') await poll(() => heard.includes(null));
      await cache.close();
      await proxy.close();
    },
  );

  test('a Redis that is unreachable at the start is not required', async () => {
    const cache = await connect('redis://127.0.0.1:1');
    expect(await cache.get('x')).toBeNull();
    expect((await cache.limiter.take('x', 1, { perSecond: 1, burst: 1 })).allowed).toBe(true);
    await cache.close();
  });
});

describe('the arithmetic of a bucket', () => {
  test.each`
    missingMs | amount | allowed  | remaining | retryAfterMs | resetMs
    ${-5}     | ${0}   | ${true}  | ${20}     | ${0}         | ${0}
    ${0}      | ${5}   | ${true}  | ${15}     | ${0}         | ${500}
    ${1900}   | ${1}   | ${true}  | ${0}      | ${100}       | ${2000}
    ${1901}   | ${1}   | ${false} | ${0}      | ${1}         | ${1901}
    ${2000}   | ${1}   | ${false} | ${0}      | ${100}       | ${2000}
    ${0}      | ${100} | ${true}  | ${0}      | ${8100}      | ${10000}
  `(
    '10 a second, burst 20, $missingMs ms missing, $amount taken',
    ({ missingMs, amount, ...answer }) => {
      expect(takeFrom(missingMs, amount, { perSecond: 10, burst: 20 }).answer).toEqual(answer);
    },
  );
});
