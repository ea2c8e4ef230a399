import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Versions of a meter as they are seen and made over HTTP; what the stream does of it: test/flow. */
describe('the life of a meter', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  const put = (meter: { id: string }, body: object) => api.put(`/v1/meters/${meter.id}`, body);
  const versions = async (meter: { id: string }) =>
    (await api.get(`/v1/meters/${meter.id}/versions`)).body.items;
  const backfill = (meter: { id: string }, body: object = {}) =>
    api.post(`/v1/meters/${meter.id}/backfill`, body);

  test('200: a change of meaning makes a version, the name alone does not', async () => {
    const meter = await catalog.meter({ type: 'SUM', field: 'v' }, { event_name: 'edited' });
    const renamed = await put(meter, { name: 'Other' });
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Other']);
    const same = await put(meter, {
      event_name: 'edited',
      aggregation: { field: 'v', type: 'SUM' },
      reset_usage: 'BILLING_PERIOD',
    });
    expect(same.status).toBe(200);
    expect(await versions(meter)).toHaveLength(1);

    const { body } = await put(meter, {
      aggregation: { type: 'MAX', expression: 'v * 2' },
      reset_usage: 'NEVER',
      effective_from: '2026-10-01T02:00:00+02:00',
    });
    expect(body).toMatchObject({
      name: 'Other',
      reset_usage: 'NEVER',
      aggregation: { type: 'MAX', field: null, expression: 'v * 2' },
    });
    const [second, first] = await versions(meter);
    expect(second).toMatchObject({
      meter_id: meter.id,
      version: 2,
      aggregation: body.aggregation,
      effective_from: '2026-10-01T00:00:00.000Z',
      is_active: true,
      backfill: { state: 'waiting', events_total: null, events_done: 0, started_at: null },
      verification: null,
      live: [],
    });
    expect(first).toMatchObject({ version: 1, aggregation: { type: 'SUM' }, is_active: true });
    expect(first.effective_from).toBe(first.created_at);
    expect((await api.get(`/v1/meters/${meter.id}`)).body).toEqual(body);
  });

  test('400: a change that a price contradicts, that the meter’s rules refuse, or of an archived meter', async () => {
    const meter = await catalog.meter({ type: 'SUM', field: 'v' });
    const plan = await catalog.plan();
    await catalog.usage(plan, meter, { bucket_size: 'DAY' });
    const wrong = async (body: object) => {
      const answer = await put(meter, body);
      return [answer.status, answer.body.details?.[0]?.path ?? null];
    };
    expect(await wrong({ aggregation: { type: 'COUNT' } })).toEqual([400, 'aggregation.type']);
    expect(await wrong({ aggregation: { type: 'SUM', field: 'v', bucket_size: 'HOUR' } })).toEqual([
      400,
      'aggregation.bucket_size',
    ]);
    expect(await wrong({ aggregation: { type: 'SUM' } })).toEqual([400, 'aggregation.field']);
    expect(await wrong({ effective_from: '2026-10-01T00:00:00Z' })).toEqual([400, 'filters']);
    expect((await wrong({ reset_usage: 'YEARLY' }))[0]).toBe(400);
    expect((await put(meter, { aggregation: { type: 'MAX', field: 'v' } })).status).toBe(200);
    await api.post(`/v1/meters/${meter.id}/disable`);
    expect((await put(meter, { event_name: 'x' })).status).toBe(400);
    expect((await put(meter, { name: 'Still renamed' })).status).toBe(200);
  });

  test('disable ends every version, and again changes nothing', async () => {
    const meter = await catalog.meter();
    await put(meter, { event_name: 'second' });
    for (let times = 0; times < 2; times++)
      expect((await api.post(`/v1/meters/${meter.id}/disable`)).status).toBe(200);
    expect((await versions(meter)).map((version: any) => version.is_active)).toEqual([
      false,
      false,
    ]);
  });

  test('202: a mismatched version begins again; one that runs or is complete is left alone', async () => {
    const meter = await catalog.meter();
    await put(meter, { event_name: 'second' });
    const [newest, oldest] = await versions(meter);
    const running = await backfill(meter);
    expect([running.status, running.body.id, running.body.backfill.state]).toEqual([
      202,
      newest.id,
      'waiting',
    ]);
    await api.pool`
      update meter_versions
         set backfill_state = 'mismatched', backfill_events = 7, verified_at = now(),
             mismatched_buckets = 2, mismatches = '["a"]', verifications = 2
       where id = ${oldest.id}`;
    expect((await versions(meter))[1].verification).toMatchObject({
      is_equal: false,
      mismatched_buckets: 2,
      mismatches: ['a'],
    });
    const again = await backfill(meter, { version_id: oldest.id });
    expect(again.body).toMatchObject({
      id: oldest.id,
      backfill: { state: 'waiting', events_done: 0 },
    });
    await api.pool`update meter_versions set backfill_state = 'complete' where id = ${oldest.id}`;
    const moved = await backfill(meter, {
      version_id: oldest.id,
      effective_from: '2026-01-01T00:00:00Z',
    });
    expect(moved.body).toMatchObject({
      backfill: { state: 'complete' },
      effective_from: '2026-01-01T00:00:00.000Z',
    });
    const back = await backfill(meter, { version_id: oldest.id, effective_from: null });
    expect(back.body.effective_from).toBe(oldest.created_at);
  });

  test('404 for a version of another meter, and for a meter of another tenant', async () => {
    const [one, other] = [await catalog.meter(), await catalog.meter()];
    const [foreign] = await versions(other);
    expect((await backfill(one, { version_id: foreign.id })).status).toBe(404);
    const stranger = await api.newCaller();
    expect((await stranger.get(`/v1/meters/${one.id}/versions`)).status).toBe(404);
    expect((await stranger.post(`/v1/meters/${one.id}/backfill`)).status).toBe(404);
  });
});
