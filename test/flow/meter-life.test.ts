import { decodeEvents } from '../../schemas/events/usage-event.ts';
import { eventually } from '../support/metering-world.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';

/** Meters made, edited and disabled over HTTP while events come in (metering 6; metering 7, test 8). */
describe('the life of a meter behind the real stream', () => {
  let world: PipelineWorld;
  beforeAll(async () => {
    world = await startPipeline();
    world.api.clock.set('2026-06-20T00:00:00.000Z');
  });
  afterAll(() => world.close());

  const event = (event_name: string, event_id: string, v: number, given: object = {}) => ({
    event_name,
    event_id,
    external_customer_id: 'acme',
    timestamp: '2026-06-15T10:00:00.000Z',
    properties: { v },
    ...given,
  });
  const usage = (meter: { id: string }, more: object = {}) =>
    world.api.post('/v1/events/usage/meter', {
      meter_id: meter.id,
      start_time: '2026-06-01T00:00:00Z',
      end_time: '2026-07-01T00:00:00Z',
      ...more,
    });
  const versions = async (meter: { id: string }) =>
    (await world.api.get(`/v1/meters/${meter.id}/versions`)).body.items;
  const hasEnded = ({ live }: { live: { live_until: string | null }[] }) =>
    live.length === 2 && live.every(({ live_until }) => live_until !== null);

  test('usage of a meter without earlier events is answered at once, and is soon complete', async () => {
    const meter = await world.catalog.meter({ type: 'COUNT' }, { event_name: 'brand new' });
    // It is answered from raw events until the stream has looked for earlier ones.
    expect((await usage(meter)).status).toBe(200);
    await eventually(async () => {
      const [version] = await versions(meter);
      expect(version).toMatchObject({
        backfill: { state: 'complete', events_total: 0, events_done: 0 },
        verification: { is_equal: true, events: 0, buckets: 0 },
      });
      expect(version.live).toHaveLength(2);
    });
    expect((await usage(meter)).body.value).toBe(0);
    await world.send([event('brand new', 'n1', 1), event('brand new', 'n2', 1)]);
    await world.settled();
    expect((await usage(meter)).body.value).toBe(2);
  });

  test('an edit: the previous version stays in force until the new one is verified, and rates older periods', async () => {
    const meter = await world.catalog.meter({ type: 'SUM', field: 'v' }, { event_name: 'edits' });
    await world.send(Array.from({ length: 30 }, (_, n) => event('edits', `e${n}`, n)));
    await world.settled();
    expect((await usage(meter)).body.value).toBe(435);
    const { status } = await world.api.put(`/v1/meters/${meter.id}`, {
      aggregation: { type: 'SUM', expression: 'v * 10' },
      effective_from: '2026-06-10T00:00:00Z',
    });
    expect(status).toBe(200);
    // In every state of the backfill the answer is complete and of one version.
    const range = { start_time: '2026-06-10T00:00:00Z' };
    await eventually(async () => {
      const { body } = await usage(meter, range);
      expect([435, 4350]).toContain(body.value);
      expect(body.value).toBe(4350);
    });
    expect((await usage(meter)).body.value).toBe(435);
    const [second, first] = await versions(meter);
    expect(second).toMatchObject({
      version: 2,
      effective_from: '2026-06-10T00:00:00.000Z',
      backfill: { state: 'complete', events_total: 30, events_done: 30, events_unmetered: 0 },
      verification: { is_equal: true, events: 30, mismatched_buckets: 0 },
    });
    expect(second.backfill.started_at <= second.backfill.finished_at).toBe(true);
    expect(first).toMatchObject({ version: 1, backfill: { state: 'complete' } });
  });

  test('disable under load: events after its end are not metered, and the debugger gives the reason', async () => {
    const { api } = world;
    const meter = await world.catalog.meter({ type: 'COUNT' }, { event_name: 'ends' });
    let sent = 0;
    let stopped = false;
    const load = (async () => {
      while (!stopped) {
        await world.send(Array.from({ length: 20 }, () => event('ends', `d${sent++}`, 1)));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    // A disabled meter ends at the progress of the stream, so an event must be counted before.
    await eventually(async () => expect((await usage(meter)).body.value).toBeGreaterThan(100));
    expect((await api.post(`/v1/meters/${meter.id}/disable`)).status).toBe(200);
    // Every partition notices the end at a batch of its own; later events come after it.
    await eventually(async () => expect(hasEnded((await versions(meter))[0])).toBe(true));
    const atEnd = sent;
    await eventually(async () => expect(sent).toBeGreaterThan(atEnd + 400));
    stopped = true;
    await load;
    await world.settled();

    const [version] = await versions(meter);
    expect(version.is_active).toBe(false);
    const until = new Map<number, bigint>(
      version.live.map((range: any) => [range.partition, BigInt(range.live_until)]),
    );
    const records = await api.pool<{ partition: number; offset: string; value: Buffer }[]>`
      select partition, "offset", value from log_records`;
    const before = records
      .filter(({ partition, offset }) => BigInt(offset) < until.get(partition)!)
      .flatMap(({ value }) => decodeEvents(value))
      .filter(({ event_name }) => event_name === 'ends').length;
    expect(before).toBeGreaterThan(100);
    expect(before).toBeLessThan(sent);
    expect((await usage(meter)).body.value).toBe(before);

    await world.send([event('ends', 'afterwards', 1)]);
    await world.settled();
    const { body } = await api.get('/v1/events/afterwards');
    expect(body.metering).toMatchObject([
      { meter_id: meter.id, quantity: null, reason: 'meter_disabled' },
    ]);
    expect((await api.get('/v1/events/d0')).body.metering).toEqual([]);
    const customer = await world.catalog.customer({ external_id: 'acme' });
    const { body: again } = await api.get('/v1/events/afterwards');
    expect(again.debug_tracker.customer_lookup.customer.id).toBe(customer.id);
    expect(again.debug_tracker.failure_point).toMatchObject({
      failure_point_type: 'meter_lookup',
      error: { code: 'meter_disabled' },
    });
  });

  test('a disabled meter: queries by properties that it does not store end at its end', async () => {
    const { api } = world;
    const summed = await world.catalog.meter({ type: 'SUM', field: 'v' }, { event_name: 'over' });
    const computed = await world.catalog.meter(
      { type: 'SUM', expression: 'v * 1.0' },
      { event_name: 'over' },
    );
    const region = (id: string, v: number) => event('over', id, v, { properties: { v, r: 'eu' } });
    await world.send([region('o1', 5)]);
    await world.settled();
    for (const { id } of [summed, computed])
      expect((await api.post(`/v1/meters/${id}/disable`)).status).toBe(200);
    for (const meter of [summed, computed]) {
      // The end is set with the stream's next batch, which therefore counts no more.
      await eventually(async () => {
        await world.send([event('other', `tick-${Math.random()}`, 1)]);
        expect(hasEnded((await versions(meter))[0])).toBe(true);
      });
    }
    await world.send([region('o2', 7), region('o3', 7), region('o4', 7), region('o5', 7)]);
    await world.settled();
    for (const meter of [summed, computed]) {
      const kept = (await usage(meter)).body;
      const filtered = (await usage(meter, { filters: { r: ['eu'] } })).body;
      const grouped = (await usage(meter, { group_by: ['r'] })).body;
      expect([kept.value, filtered.value, grouped.value]).toEqual([5, 5, 5]);
      expect(grouped.results).toMatchObject([{ value: 5, group: { r: 'eu' } }]);
    }
  });
});
