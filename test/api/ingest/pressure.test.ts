import { InProcessRateLimiter } from '../../../platform/cache/in-process-rate-limiter.ts';
import { poll } from '../../contract/event-log/contract.ts';
import { WAIT_MS } from '../../support/patience.ts';
import { startIngest, type TestIngest } from './start-ingest.ts';

const EVENT = { event_name: 'api.call', external_customer_id: 'acme' };
const many = (count: number) => ({ events: Array.from({ length: count }, () => EVENT) });

describe('429', () => {
  let ingest: TestIngest;
  beforeEach(async () => {
    ingest = await startIngest({
      limits: (clock) => ({
        limiter: new InProcessRateLimiter(clock),
        perTenant: { perSecond: 100, burst: 200 },
      }),
    });
  });
  afterEach(() => ingest.close());

  test('counts events, not requests, and sends Retry-After', async () => {
    const first = await ingest.post('/v1/events/bulk', many(150));
    expect(first.status).toBe(202);
    expect(first.headers).toMatchObject({
      'ratelimit-limit': '100',
      'ratelimit-remaining': '50',
      'ratelimit-policy': '100;w=1;burst=200',
      'x-ratelimit-remaining': '50',
    });
    // Allowed, because the bucket is not empty; overdrawn afterwards.
    expect((await ingest.post('/v1/events/bulk', many(500))).status).toBe(202);

    const stored = (await ingest.stored()).length;
    for (const path of ['/v1/events', '/v1/events/bulk']) {
      const refused = await ingest.post(path, path.endsWith('bulk') ? many(1) : EVENT);
      expect(refused.status).toBe(429);
      expect(refused.body.code).toBe('rate_limited');
      expect(Number(refused.headers['retry-after'])).toBe(5);
      expect(refused.headers['ratelimit-remaining']).toBe('0');
    }
    expect((await ingest.stored()).length).toBe(stored);

    ingest.clock.advance(5_000);
    expect((await ingest.post('/v1/events', EVENT)).status).toBe(202);
  });

  test('a tenant beyond its rate is refused before its body is read', async () => {
    await ingest.post('/v1/events/bulk', many(400));
    expect((await ingest.post('/v1/events', '{')).status).toBe(429);
  });

  test('one tenant does not use up the rate of another', async () => {
    await ingest.post('/v1/events/bulk', many(1000));
    expect((await ingest.post('/v1/events', EVENT)).status).toBe(429);
    const other = await ingest.newKey();
    expect((await ingest.post('/v1/events', EVENT, { 'x-api-key': other })).status).toBe(202);
  });

  test('what is refused costs nothing of the rate', async () => {
    for (let call = 0; call < 10; call++)
      expect((await ingest.post('/v1/events/bulk', { events: ['x'] })).status).toBe(400);
    const answer = await ingest.post('/v1/events', EVENT);
    expect(answer.headers['ratelimit-remaining']).toBe('199');
  });
});

describe('503', () => {
  /** Sent until it is accepted: a busy machine may need longer than the deadline of one append. */
  const acceptedAtLast = (ingest: TestIngest, event_id: string) =>
    poll(async () => (await ingest.post('/v1/events', { ...EVENT, event_id })).status === 202);

  test.each(['refuse', 'hang'] as const)(
    'never 202 while the log %ss; in bounded time, and back by itself',
    async (fault) => {
      const ingest = await startIngest({ appendDeadlineMs: 500 });
      // The credential is remembered from here on.
      await acceptedAtLast(ingest, 'before');
      ingest.proxy[fault]();
      const began = performance.now();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          n % 2 === 0
            ? ingest.post('/v1/events', { ...EVENT, event_id: `during-${n}` })
            : ingest.post('/v1/events/bulk', many(100)),
        ),
      );
      // Without a bound they would wait for as long as the fault lasts.
      expect(performance.now() - began).toBeLessThan(WAIT_MS / 2);
      for (const answer of answers) {
        expect(answer.status).toBe(503);
        expect(answer.body.code).toBe('event_log_unavailable');
        expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
      }
      ingest.proxy.pass();
      await acceptedAtLast(ingest, 'after');
      const ids = (await ingest.stored()).map((event) => event.event_id);
      expect(ids).toEqual(expect.arrayContaining(['before', 'after']));
      await ingest.close();
    },
  );

  test('more bytes in flight than the process may hold', async () => {
    const ingest = await startIngest({ appendDeadlineMs: 4_000, maxHeldBytes: 100_000 });
    await acceptedAtLast(ingest, 'before');
    ingest.proxy.hang();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ingest.post('/v1/events/bulk', many(400))),
    );
    const codes = answers.map((answer) => answer.body.code);
    expect(codes.filter((code) => code === 'ingest_busy').length).toBeGreaterThan(10);
    expect(codes.filter((code) => code === 'event_log_unavailable').length).toBeGreaterThan(1);
    expect(answers.every((answer) => answer.headers['retry-after'] !== undefined)).toBe(true);
    await ingest.close();
  });

  test('the partition count changes under load: nothing is refused, copies meet', async () => {
    const ingest = await startIngest();
    const sends: Promise<number>[] = [];
    for (let round = 0; round < 30; round++) {
      for (const event_id of ['same', `r-${round}`])
        sends.push(ingest.post('/v1/events', { ...EVENT, event_id }).then(({ status }) => status));
      if (round === 10) await ingest.log.resize(7);
    }
    expect(new Set(await Promise.all(sends))).toEqual(new Set([202]));
    expect([ingest.log.epoch, ingest.log.partitions]).toEqual([1, 7]);
    const stored = await ingest.stored();
    expect(stored).toHaveLength(60);
    await ingest.close();
  });
});
