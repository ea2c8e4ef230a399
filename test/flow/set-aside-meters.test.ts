import {
  createMeterVersion,
  endMeterVersion,
  setVersionsAside,
} from '../../postgres/tables/meter-versions.ts';
import { insertMeter } from '../../api/catalog/meters/repository.ts';
import type { Meter } from '../../schemas/meter.ts';
import {
  createMeteringWorld,
  eventually,
  SCOPE,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';
import { startStreamChild, type StreamChild } from '../support/stream-child.ts';
import { storedUsage } from '../support/usage-recount.ts';

/** What an older release accepted: thirty million digits, and more than enough to end the process. */
const POISON = 'size(string(1e-30000000))';
const OTHER = { tenant_id: 'tenant_b', environment_id: 'env_b' };

/** One tenant's meter that cannot be evaluated does not stop the stream of others (tenancy S14; metering 6). */
describe('a meter that cannot be evaluated', () => {
  let world: MeteringWorld;
  beforeEach(async () => {
    world = await createMeteringWorld();
    await world.pool`insert into tenants (id, name) values ('tenant_b', 'B')`;
    await world.pool`
      insert into environments (id, tenant_id, name, type)
      values ('env_b', 'tenant_b', 'Production', 'production')`;
  });
  const children: StreamChild[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) if (child.isAlive()) await child.kill();
    await world.close();
  });

  let made = 0;
  /** A version as stored in the database, without the checks of today's rules. */
  const storedVersion = (
    aggregation: object,
    scope = { tenant_id: 'tenant_a', environment_id: 'env_a' },
  ) =>
    world.pool.begin((tx) =>
      createMeterVersion(tx, scope, {
        id: `meterv_${(made += 1)}`,
        meter_id: `meter_${made}`,
        spec: {
          event_name: 'request',
          aggregation: {
            type: 'SUM', field: null, expression: null, multiplier: null, group_by: null, bucket_size: null,
            ...aggregation,
          }, // prettier-ignore
          filters: [],
          reset_usage: 'BILLING_PERIOD',
        },
        dimensions: [],
        created_by: 'user_a',
      }),
    );
  const stateOf = async (id: string) => {
    const [row] = await world.pool<Record<string, string | null>[]>`
      select backfill_state, set_aside_reason, set_aside_at, ended_catalog_version
        from meter_versions where id = ${id}`;
    return row!;
  };
  const values = (id: string) => storedUsage(world.clickhouse, id);
  const notices = () =>
    world.pool<
      { tenant_id: string; entity_id: string; payload: { meter: Record<string, unknown> } }[]
    >`
      select tenant_id, entity_id, payload from outbox
       where event_type = 'meter.set_aside' order by id`;
  const events = (from: number, count: number, more: object = {}) =>
    Array.from({ length: count }, (_, n) =>
      usageEvent({ event_id: `e${from + n}`, properties: `{"v":${from + n}}`, ...more }),
    );

  test('is set aside when it is loaded: its tenant is notified, and the events of all others count', async () => {
    const poisoned = await storedVersion({ expression: POISON });
    const own = await world.createMeter({ type: 'SUM', field: 'v' });
    const others = await storedVersion({ expression: 'v * 10' }, OTHER);
    await world.startStream();
    await world.send([...events(1, 20), ...events(1, 20, OTHER)]);
    await world.untilPassed();

    expect(await stateOf(poisoned.id)).toMatchObject({
      backfill_state: 'set_aside',
      set_aside_reason: expect.stringMatching(/^aggregation\.expression: .*1e-30000000/),
      set_aside_at: expect.anything(),
      ended_catalog_version: expect.anything(),
    });
    expect(await values(poisoned.id)).toEqual([]);
    expect((await values(own.id)).length).toBe(20);
    expect((await values(others.id)).length).toBe(20);
    const told = await notices();
    expect(told).toEqual([
      {
        tenant_id: 'tenant_a',
        entity_id: poisoned.meter_id,
        payload: {
          meter: expect.objectContaining({ id: poisoned.meter_id, meter_version_id: poisoned.id }),
        },
      },
    ]);
    expect((await stateOf(own.id)).backfill_state).not.toBe('set_aside');
  });

  test('is set aside when it fails for an event: the batch is done again without it', async () => {
    // Damaged in the database: reading the property throws, for every event that there is.
    const damaged = await storedVersion({ field: { toString: null, valueOf: null } as never });
    const own = await world.createMeter({ type: 'COUNT' });
    const others = await storedVersion({ field: 'v' }, OTHER);
    await world.startStream();
    await world.send([...events(1, 15), ...events(1, 15, OTHER)]);
    await world.untilPassed();
    expect(await stateOf(damaged.id)).toMatchObject({
      backfill_state: 'set_aside',
      set_aside_reason: 'The meter could not be evaluated because of an internal error.',
    });
    expect((await values(own.id)).length).toBe(15);
    expect((await values(others.id)).length).toBe(15);
    expect(await values(damaged.id)).toEqual([]);

    await world.send([...events(100, 5), ...events(100, 5, OTHER)]);
    await world.untilPassed();
    expect((await values(own.id)).length).toBe(20);
    expect((await values(others.id)).length).toBe(20);
    expect((await notices()).map(({ tenant_id }) => tenant_id)).toEqual(['tenant_a']);
  });

  test('is set aside by its backfill when earlier events are what it fails for', async () => {
    const stream = await world.startStream();
    await world.send(events(1, 10));
    await world.untilPassed();
    const damaged = await storedVersion({ field: { toString: null, valueOf: null } as never });
    const late = await world.createMeter({ type: 'SUM', field: 'v' });
    await eventually(async () => {
      expect((await stateOf(damaged.id)).backfill_state).toBe('set_aside');
      expect((await stateOf(late.id)).backfill_state).toBe('complete');
    });
    expect((await values(late.id)).length).toBe(10);
    await stream.close();
  });

  test('ends no process: killed right after the mark, the stream restarts and continues', async () => {
    const poisoned = await storedVersion({ expression: POISON });
    const damaged = await storedVersion({ field: { toString: null, valueOf: null } as never });
    const others = await storedVersion({ field: 'v' }, OTHER);
    await world.send([...events(1, 30), ...events(1, 30, OTHER)]);
    const first = await startStreamChild(world, { failpoints: 'stream.after_set_aside' });
    children.push(first);
    expect(await first.exited).toBe('SIGKILL');
    for (const { id } of [poisoned, damaged])
      expect((await stateOf(id)).backfill_state).toBe('set_aside');

    const second = await startStreamChild(world);
    children.push(second);
    await world.untilPassed();
    expect(second.isAlive()).toBe(true);
    expect((await values(others.id)).length).toBe(30);
    expect(await values(damaged.id)).toEqual([]);
    expect((await notices()).map(({ entity_id }) => entity_id).sort()).toEqual(
      [poisoned.meter_id, damaged.meter_id].sort(),
    );
  });

  test('an ended meter keeps its end; setting it aside again changes and reports nothing', async () => {
    const poisoned = await storedVersion({ expression: POISON });
    await world.pool.begin((tx) => endMeterVersion(tx, SCOPE, poisoned.id, 'user_a'));
    const before = await stateOf(poisoned.id);
    const failed = [{ id: poisoned.id, reason: 'It cannot be read.' }];
    expect(await setVersionsAside(world.pool, failed)).toEqual([poisoned.id]);
    expect(await setVersionsAside(world.pool, failed)).toEqual([]);
    expect(await stateOf(poisoned.id)).toMatchObject({
      backfill_state: 'set_aside',
      ended_catalog_version: before['ended_catalog_version'],
    });
    expect(await notices()).toHaveLength(1);
  });
});

describe('usage of a meter that is set aside', () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
    world.api.clock.set('2026-06-20T00:00:00.000Z');
  });
  afterAll(() => world.close());

  const event = (event_name: string, event_id: string, v: number, customer = 'acme') => ({
    event_name,
    event_id,
    external_customer_id: customer,
    timestamp: '2026-06-15T10:00:00.000Z',
    properties: { v },
  });
  const usage = (meter: { id: string }) =>
    world.api.post('/v1/events/usage/meter', {
      meter_id: meter.id,
      start_time: '2026-06-01T00:00:00Z',
      end_time: '2026-07-01T00:00:00Z',
    });
  const versions = async (meter: { id: string }) =>
    (await world.api.get(`/v1/meters/${meter.id}/versions`)).body.items;

  test('is refused by name, billing of others continues, and an edit puts the meter in force again', async () => {
    const { api, catalog } = world;
    const healthy = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name: 'healthy' });
    const template = (await api.get(`/v1/meters/${healthy.id}`)).body as Meter;
    const poisoned: Meter = {
      ...template,
      id: 'meter_01JPOISON000000000000000000',
      name: 'Poisoned',
      event_name: 'poisoned',
      aggregation: { ...template.aggregation, field: null, expression: POISON },
    };
    await api.pool.begin((tx) => insertMeter(tx, api.deps as never, poisoned));
    await eventually(async () => {
      const [version] = await versions(poisoned);
      expect(version).toMatchObject({
        is_active: false,
        backfill: { state: 'set_aside' },
        set_aside: { at: expect.any(String), reason: expect.stringContaining('1e-30000000') },
      });
    });
    const plan = await catalog.plan();
    await catalog.usage(plan, poisoned);
    const plain = await catalog.plan();
    await catalog.usage(plain, healthy);
    const victim = await catalog.customer();
    const neighbour = await catalog.customer();
    const start_date = '2026-06-01T00:00:00Z';
    const sold = await catalog.subscribe(victim, plan, { start_date });
    const other = await catalog.subscribe(neighbour, plain, { start_date });
    await world.send([
      ...Array.from({ length: 10 }, (_, n) => event('poisoned', `p${n}`, n, victim.external_id)),
      ...Array.from({ length: 10 }, (_, n) => event('healthy', `h${n}`, n, neighbour.external_id)),
    ]);
    await world.settled();

    const refused = {
      status: 503,
      body: { code: 'meter_set_aside', message: expect.stringContaining(poisoned.id) },
    };
    expect(await usage(poisoned)).toMatchObject(refused);
    expect((await usage(healthy)).body.value).toBe(45);
    const preview = (subscription_id: string) =>
      api.post('/v1/invoices/preview', { subscription_id });
    expect(await preview(sold.id)).toMatchObject(refused);
    expect((await preview(other.id)).status).toBe(200);

    // A change to its present terms would be refused; a request that changes nothing makes no version of a healthy
    // meter.
    expect((await api.put(`/v1/meters/${poisoned.id}`, { name: 'Still' })).status).toBe(400);
    const edited = await api.put(`/v1/meters/${poisoned.id}`, {
      aggregation: { type: 'SUM', expression: 'v * 2' },
    });
    expect(edited.status).toBe(200);
    await eventually(async () => {
      const [second, first] = await versions(poisoned);
      expect(second).toMatchObject({
        version: 2,
        backfill: { state: 'complete' },
        set_aside: null,
      });
      expect(first).toMatchObject({ version: 1, backfill: { state: 'set_aside' } });
    });
    // Everything counts, also events from the time without the meter, and in the current period.
    expect((await usage(poisoned)).body.value).toBe(90);
    expect((await preview(sold.id)).status).toBe(200);
  });
});
