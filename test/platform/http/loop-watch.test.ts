import Fastify, { type FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { LoopWatch } from '../../../platform/http/loop-watch.ts';

/** The clock is a number: a handler that holds the loop moves it, and so nothing here waits. */
describe('the watch over the event loop', () => {
  let now = 0;
  let app: FastifyInstance;
  let registry: Registry;
  let watch: LoopWatch;
  let logged: Record<string, unknown>[];
  let release: () => void;
  const recorded = (level: string) =>
    ((fields: object) => void logged.push({ level, ...fields })) as never;
  beforeEach(async () => {
    now = 1_000;
    registry = new Registry();
    logged = [];
    watch = new LoopWatch({
      registry,
      log: { warn: recorded('warn'), info: recorded('info') },
      now: () => now,
    });
    app = Fastify();
    watch.watch(app);
    app.get('/quick', async () => ({}));
    app.post('/slow/:id', async () => {
      now += 400;
      return {};
    });
    app.addContentTypeParser('text/slow', { parseAs: 'string' }, (_request, _body, done) => {
      now += 300;
      done(null, {});
    });
    app.get('/later', async () => {
      await new Promise<void>((resolve) => (release = resolve));
      now += 500;
      return {};
    });
    await app.ready();
    now += 50;
    watch.tick();
  });
  afterEach(() => app.close());

  const counts = async (): Promise<Record<string, number>> => {
    const { values } = await registry.getSingleMetric('event_loop_blocks_total')!.get();
    return Object.fromEntries(
      values.map(({ labels, value }) => [`${labels['method']} ${labels['route']}`.trim(), value]),
    );
  };
  const tick = (): void => {
    now += 50;
    watch.tick();
  };

  test('a handler that blocks the loop is counted under its route, with its shape and no value', async () => {
    const body = { secret: 'canary', list: [1, 2, { a: 'canary' }] };
    await app.inject({ method: 'POST', url: '/slow/canary', payload: body });
    tick();
    expect(await counts()).toEqual({ 'POST /slow/:id': 1 });
    expect(logged).toEqual([
      expect.objectContaining({
        level: 'warn',
        route: '/slow/:id',
        method: 'POST',
        held_ms: 400,
        values: 6,
      }),
    ]);
    expect(JSON.stringify(logged)).not.toContain('canary');
  });

  test('so is the reading of a body', async () => {
    const headers = { 'content-type': 'text/slow' };
    await app.inject({ method: 'POST', url: '/slow/1', headers, payload: 'x' });
    tick();
    expect(await counts()).toEqual({ 'POST /slow/:id': 1 });
  });

  test('another request that waits meanwhile is not blamed', async () => {
    const waiting = app.inject({ url: '/later' });
    await new Promise(setImmediate);
    tick();
    await app.inject({ method: 'POST', url: '/slow/1', payload: {} });
    tick();
    expect(await counts()).toEqual({ 'POST /slow/:id': 1 });
    release();
    await waiting;
  });

  test('work after a wait is that of the only open request', async () => {
    const waiting = app.inject({ url: '/later' });
    await new Promise(setImmediate);
    tick();
    release();
    await waiting;
    tick();
    expect(await counts()).toEqual({ 'GET /later': 1 });
  });

  test('work outside of requests is counted separately', async () => {
    now += 300;
    tick();
    expect(await counts()).toEqual({ none: 1 });
    expect(logged).toEqual([{ level: 'info', route: 'none', held_ms: 300 }]);
  });

  test('quick requests and a loop that is on time count nothing', async () => {
    await app.inject({ url: '/quick' });
    tick();
    now += 150;
    tick();
    expect(await counts()).toEqual({});
  });
});
