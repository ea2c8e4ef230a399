import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

const RANGE = { start_time: '2026-06-01T00:00:00Z', end_time: '2026-07-01T00:00:00Z' };
const METERS = 7;

/** A filter by a property that no meter keeps reads the events of one line after the other (tenancy S13). */
describe('a filter over the lines of many customers', () => {
  let world: PipelineWorld;
  let plan: { id: string };
  let reads = 0;
  let count = 0;

  beforeAll(async () => {
    world = await startPipeline();
    plan = await world.catalog.plan();
    for (let number = 0; number < METERS; number += 1) {
      const meter = await world.catalog.meter(
        { type: 'SUM', field: 'n' },
        { event_name: `used_${number}` },
      );
      await world.catalog.usage(plan, meter, { amount: '2', start_date: '2026-01-01T00:00:00Z' });
    }
    // Requests read through a reader of their own, which stops when the caller has gone.
    const { until } = world.eventReader;
    world.eventReader.until = (gone) => {
      const reader = until(gone);
      return {
        ...reader,
        answer(...asked) {
          reads += 1;
          return reader.answer(...asked);
        },
      };
    };
  });
  afterAll(() => world.close());

  /** A customer with one event of each of the first meters. */
  const used = async (meters: number, properties: object): Promise<void> => {
    const external_id = `lines_${(count += 1)}`;
    const customer = await world.catalog.customer({ external_id });
    await world.catalog.subscribe(customer, plan, { start_date: '2026-06-01T00:00:00Z' });
    const events = Array.from({ length: meters }, (_, number) => ({
      event_id: `${external_id}-${number}`,
      event_name: `used_${number}`,
      external_customer_id: external_id,
      timestamp: '2026-06-10T10:00:00Z',
      properties,
    }));
    if (events.length > 0) await world.send(events);
  };
  const ask = (fields: object) =>
    world.api.post('/v1/costs/analytics', {
      ...RANGE,
      property_filters: { hue: ['red'] },
      ...fields,
    });

  test('lines without usage in the range are not read', async () => {
    await used(1, { n: 5, hue: 'red' });
    await used(2, { n: 3, hue: 'blue' });
    for (let customers = 0; customers < 4; customers += 1) await used(0, {});
    await world.settled();
    reads = 0;
    const { status, body } = await ask({});
    expect([status, body.total_revenue, reads]).toEqual([200, '10', 3]);
  });

  test('a question that needs the events of more than 200 lines is refused before it reads any', async () => {
    for (let customers = 0; customers < 29; customers += 1)
      await used(METERS, { n: 1, hue: 'red' });
    await world.settled();
    reads = 0;
    const { status, body } = await ask({});
    expect([status, body.code, reads]).toEqual([400, 'usage_query_too_large', 0]);
    expect((await ask({ external_customer_id: `lines_${count}` })).body.total_revenue).toBe('14');
    expect((await ask({ property_filters: {} })).body.total_revenue).toBe('428');
  });
});
