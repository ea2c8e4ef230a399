import { startIngest, type TestIngest } from './start-ingest.ts';

/** `POST /v1/events/raw/bulk` is the other address of `/v1/events/bulk`: the same edge, the same refusals. */
describe('POST /v1/events/raw/bulk', () => {
  let ingest: TestIngest;
  beforeAll(async () => {
    ingest = await startIngest();
  });
  afterAll(() => ingest.close());

  const raw = (body: unknown) => ingest.post('/v1/events/raw/bulk', body);
  const event = { event_name: 'api.call', external_customer_id: 'acme' };

  test('202: events are stored as by /events/bulk', async () => {
    const answer = await raw({ events: [{ ...event, event_id: 'raw-1', properties: { n: 1 } }] });
    expect([answer.status, answer.body]).toEqual([
      202,
      { message: 'Events accepted for processing' },
    ]);
    expect(await ingest.stored()).toMatchObject([{ event_id: 'raw-1', properties: '{"n":1}' }]);
  });

  test.each([
    [{}],
    [{ events: [] }],
    [{ events: ['x'] }],
    [{ events: [event, { event_name: 'api.call' }] }],
  ])('400 and nothing kept: %j', async (body) => {
    const before = (await ingest.stored()).length;
    expect((await raw(body)).status).toBe(400);
    expect(await ingest.stored()).toHaveLength(before);
  });
});
