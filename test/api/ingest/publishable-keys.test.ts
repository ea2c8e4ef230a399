import { EVENT_ID_LENGTH_MAX } from '../../../schemas/events/event-bodies.ts';
import { startIngest, type TestIngest } from './start-ingest.ts';

const EVENT = { event_name: 'page.view', external_customer_id: 'acme' };
const CLOUD = { 'content-type': 'application/cloudevents+json' };
const CLOUD_BATCH = { 'content-type': 'application/cloudevents-batch+json' };
const LINES = { 'content-type': 'application/x-ndjson' };
const cloudEvent = (id: string, fields: object = {}) => ({
  specversion: '1.0',
  id,
  source: 'page',
  type: EVENT.event_name,
  subject: EVENT.external_customer_id,
  ...fields,
});

/** A publishable key is part of a page: every reader of the page has it (tenancy 52). */
describe('events of a publishable key', () => {
  let ingest: TestIngest;
  beforeAll(async () => {
    ingest = await startIngest();
  });
  afterAll(() => ingest.close());

  let ids = 0;
  const newKey = async (limits: object = {}) => {
    const id = `secret_${(ids += 1)}`;
    const key = await ingest.newKey({ type: 'publishable_key', id, ...limits });
    return { id, headers: { 'x-api-key': key } };
  };
  const storedIds = async (key: string) =>
    (await ingest.stored())
      .map(({ event_id }) => event_id)
      .filter((id) => id.startsWith(key))
      .sort();

  /** Every way in, with an id and with the event's name and customer. */
  const ways: [string, string, object, (id: string, fields?: object) => unknown, string][] = [
    ['one', '/v1/events', {}, (event_id, fields) => ({ ...EVENT, event_id, ...fields }), ''],
    ['bulk', '/v1/events/bulk', {}, (event_id, fields) => ({ events: [{ ...EVENT, event_id, ...fields }] }), 'events[0].'],
    ['raw bulk', '/v1/events/raw/bulk', {}, (event_id, fields) => ({ events: [{ ...EVENT, event_id, ...fields }] }), 'events[0].'],
    ['lines', '/v1/events/bulk', LINES, (event_id, fields) => `${JSON.stringify({ ...EVENT, event_id, ...fields })}\n`, '[0].'],
  ]; // prettier-ignore

  test.each(ways)('%s: the id begins with the key’s id', async (_way, path, headers, body) => {
    const { id, headers: by } = await newKey();
    for (const sent of ['a', `${id}:b`, 'secret_other:c']) {
      const answer = await ingest.post(path, body(sent), { ...headers, ...by });
      expect(answer.status).toBe(202);
      if (path === '/v1/events')
        expect(answer.body.event_id).toBe(sent.startsWith(id) ? sent : `${id}:${sent}`);
    }
    expect(await storedIds(id)).toEqual([`${id}:a`, `${id}:b`, `${id}:secret_other:c`]);
    const without = await ingest.post(path, body(''), { ...headers, ...by });
    expect([without.status, (await storedIds(id)).length]).toEqual([202, 4]);
  });

  test('CloudEvents: the id begins with the key’s id', async () => {
    const { id, headers } = await newKey();
    const one = await ingest.post('/v1/events', cloudEvent('a'), { ...CLOUD, ...headers });
    expect([one.status, one.body.event_id]).toEqual([202, `${id}:a`]);
    const batch = [cloudEvent('b'), cloudEvent('c')];
    const many = await ingest.post('/v1/events/bulk', batch, { ...CLOUD_BATCH, ...headers });
    expect([many.status, await storedIds(id)]).toEqual([202, [`${id}:a`, `${id}:b`, `${id}:c`]]);
  });

  test('a private key names its events as it likes', async () => {
    const { body } = await ingest.post('/v1/events', { ...EVENT, event_id: 'secret_1:a' });
    expect(body.event_id).toBe('secret_1:a');
  });

  test.each(ways)(
    '400: %s names what the key does not send',
    async (_way, path, headers, body, below) => {
      const { id, headers: by } = await newKey({
        allowed_event_names: ['page.view', 'page.leave'],
        external_customer_id: 'acme',
      });
      const send = (fields: object) => ingest.post(path, body('x', fields), { ...headers, ...by });
      for (const [fields, field] of [
        [{ event_name: 'refund' }, 'event_name'],
        [{ external_customer_id: 'globex' }, 'external_customer_id'],
        [{ customer_id: 'cust_other' }, 'customer_id'],
      ] as const) {
        const answer = await send(fields);
        expect([answer.status, answer.body.code, answer.body.details[0].path]).toEqual([
          400,
          'validation_error',
          `${below}${field}`,
        ]);
      }
      expect(await storedIds(id)).toEqual([]);
      expect((await send({ event_name: ' page.leave ' })).status).toBe(202);
    },
  );

  test('400: CloudEvents name the fields that they have', async () => {
    const { headers } = await newKey({ allowed_event_names: ['x'], external_customer_id: 'y' });
    const answer = await ingest.post('/v1/events/bulk', [cloudEvent('a')], {
      ...CLOUD_BATCH,
      ...headers,
    });
    const paths = answer.body.details.map(({ path }: { path: string }) => path);
    expect([answer.status, paths]).toEqual([400, ['[0].type', '[0].subject']]);
  });

  test('one bad event refuses the call, and every bad one is named', async () => {
    const { id, headers } = await newKey({ allowed_event_names: ['page.view'] });
    const bad = { ...EVENT, event_name: 'refund' };
    const answer = await ingest.post(
      '/v1/events/bulk',
      { events: [EVENT, bad, EVENT, bad] },
      headers,
    );
    const paths = answer.body.details.map(({ path }: { path: string }) => path);
    expect([answer.status, paths]).toEqual([400, ['events[1].event_name', 'events[3].event_name']]);
    expect(await storedIds(id)).toEqual([]);
  });

  test('400: an id that is too long with the key’s before it', async () => {
    const { id, headers } = await newKey();
    const fits = '😀'.repeat(EVENT_ID_LENGTH_MAX - id.length - 1);
    const send = (event_id: string) => ingest.post('/v1/events', { ...EVENT, event_id }, headers);
    expect((await send(fits)).status).toBe(202);
    const { status, body } = await send(`${fits}x`);
    expect([status, body.details[0].path]).toEqual([400, 'event_id']);
  });
});
