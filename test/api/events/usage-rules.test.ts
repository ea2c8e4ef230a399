import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';

/** The rules of usage by event name and by meter, one by one: what others get wrong is right here. */
describe('usage rules', () => {
  let world: PipelineWorld;
  const at = (id: string, timestamp: string, properties: object, source = '') => ({
    event_id: id, event_name: 'rule', external_customer_id: 'acme', timestamp, source, properties,
  }); // prettier-ignore

  beforeAll(async () => {
    world = await startPipeline();
    await world.send([
      at('a', '2026-01-31T23:59:59.999Z', { n: 1.1, yes: true, five: 5 }),
      at('b', '2026-02-01T00:00:00Z', { n: 2.2, five: '5' }, 'web'), // a Sunday
      at('c', '2026-02-02T00:00:00Z', { n: 3.3 }), // a Monday
      at('d', '2026-02-27T23:30:00Z', { n: 4 }), // the 28th in Berlin
      at('e', '2026-02-28T23:30:00Z', { n: 8 }), // March in Berlin
      at('f', '2026-03-01T00:00:00Z', { n: 16 }),
      at('g', '2026-02-10T00:00:00Z', { n: 'none' }),
      at('h', '2026-02-10T00:00:00Z', {}),
      at('i', '2026-11-20T12:00:00Z', { n: 32 }),
    ]);
    await world.settled();
  });
  afterAll(() => world.close());

  const FEBRUARY = { start_time: '2026-02-01T00:00:00Z', end_time: '2026-03-01T00:00:00Z' };
  const WINTER = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-04-01T00:00:00Z' };
  const usage = async (more: object) => {
    const answer = await world.api.post('/v1/events/usage', {
      event_name: 'rule', property_name: 'n', aggregation_type: 'SUM', ...more,
    }); // prettier-ignore
    expect(answer.status).toBe(200);
    return answer.body;
  };
  const windows = async (more: object) =>
    (await usage({ ...WINTER, ...more })).results.map((r: any) => [r.window_size, r.value]);

  test('the start is inside the range, the end is not, to the millisecond', async () => {
    expect((await usage({ ...FEBRUARY, aggregation_type: 'COUNT' })).value).toBe(6);
    const end_time = '2026-01-31T23:59:59.999Z';
    expect((await usage({ ...WINTER, end_time, aggregation_type: 'COUNT' })).value).toBe(0);
    const start_time = '2026-01-31T23:59:59.999Z';
    const only = { start_time, end_time: '2026-02-01T00:00:00Z' };
    expect((await usage(only)).value).toBe(1.1);
    const withOffset = {
      start_time: '2026-02-01T05:30:00+05:30',
      end_time: '2026-02-01T05:30:00.001+05:30',
    };
    expect((await usage(withOffset)).value).toBe(2.2);
  });

  test('without a range the last seven days; without a customer all of them', async () => {
    expect((await usage({})).value).toBe(32);
    expect((await usage({ external_customer_id: 'acme' })).value).toBe(32);
    expect((await usage({ external_customer_id: 'nobody' })).value).toBe(0);
  });

  test('sums are exact decimals', async () => {
    const range = { start_time: '2026-01-31T00:00:00Z', end_time: '2026-02-03T00:00:00Z' };
    expect((await usage(range)).value).toBe(6.6);
  });

  test('a missing or non-numeric value is no value, not zero', async () => {
    expect((await usage({ ...FEBRUARY, aggregation_type: 'AVG' })).value).toBe(4.375);
    expect((await usage({ ...FEBRUARY, aggregation_type: 'MIN' })).value).toBe(2.2);
    const range = { start_time: '2026-02-09T00:00:00Z', end_time: '2026-02-11T00:00:00Z' };
    expect((await usage({ ...range, aggregation_type: 'LATEST' })).value).toBe(0);
    expect(
      (await usage({ ...range, aggregation_type: 'MAX', bucket_size: 'DAY' })).results,
    ).toEqual([]);
  });

  test('filters compare texts of properties; the source is none', async () => {
    const count = async (filters: object) =>
      (await usage({ ...WINTER, aggregation_type: 'COUNT', filters })).value;
    expect(await count({ yes: ['true'] })).toBe(1);
    expect(await count({ five: ['5'] })).toBe(2);
    expect(await count({ five: ['5'], yes: ['true'] })).toBe(1);
    expect(await count({ source: ['web'] })).toBe(0);
  });

  test('weeks begin on Monday', async () => {
    expect(await windows({ window_size: 'WEEK' })).toEqual([
      ['2026-01-26T00:00:00.000Z', 3.3],
      ['2026-02-02T00:00:00.000Z', 3.3],
      ['2026-02-23T00:00:00.000Z', 28],
    ]);
  });

  test('months of a zone begin at its midnight', async () => {
    expect(await windows({ window_size: 'MONTH', timezone: 'Europe/Berlin' })).toEqual([
      ['2026-01-31T23:00:00.000Z', 10.6],
      ['2026-02-28T23:00:00.000Z', 24],
    ]);
  });

  test('months from an anchor on the 31st are clamped', async () => {
    const anchored = { window_size: 'MONTH', billing_anchor: '2026-01-31T00:00:00Z' };
    expect(await windows(anchored)).toEqual([
      ['2026-01-31T00:00:00.000Z', 10.6],
      ['2026-02-28T00:00:00.000Z', 24],
    ]);
  });

  test('a meter’s expression and filters are applied; NEVER adds what was before', async () => {
    const { catalog } = world;
    const rule = { event_name: 'rule' };
    const doubled = await catalog.meter({ type: 'SUM', expression: 'properties.n * 2' }, rule);
    const filtered = await catalog.meter(
      { type: 'SUM', field: 'n' },
      { ...rule, filters: [{ key: 'five', values: ['5'] }] },
    );
    const forEver = await catalog.meter(
      { type: 'SUM', field: 'n' },
      { ...rule, reset_usage: 'NEVER' },
    );
    await world.settled();
    const value = async (meter: { id: string }) =>
      (await world.api.post('/v1/events/usage/meter', { meter_id: meter.id, ...FEBRUARY })).body
        .value;
    expect(await value(doubled)).toBe(35);
    expect(await value(filtered)).toBe(2.2);
    expect(await value(forEver)).toBe(18.6);
  });

  test('GET /events: a raw semicolon in the URL is part of the filter', async () => {
    const range = 'start_time=2026-01-01T00:00:00Z&end_time=2026-04-01T00:00:00Z';
    const { body } = await world.api.get(`/v1/events?${range}&property_filters=five:5;yes:true,no`);
    expect(body.events.map((event: any) => event.id)).toEqual(['a']);
  });
});
