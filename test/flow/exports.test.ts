import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';

let world: PipelineWorld;
let meter: { id: string };
let gauge: { id: string };
const EVENTS = 2_345;
const HOSTILE = ['=1+1', '+1', '-1+1', '@SUM(A1)', '\tx', 'a,"b"\nc', 'été'];
const at = (n: number) => new Date(Date.UTC(2026, 10, 1) + n * 60_000).toISOString();

beforeAll(async () => {
  world = await startPipeline();
  const { catalog } = world;
  meter = await catalog.meter({ type: 'COUNT' }, { event_name: 'call' });
  gauge = await catalog.meter({ type: 'SUM', field: 'n' }, { event_name: 'gauge' });
  // Of c2 there is usage, but no record.
  for (const external_id of ['=c0', 'c1', 'unused']) await catalog.customer({ external_id });
  const events = Array.from({ length: EVENTS }, (_, n) => ({
    event_id: `e-${n}`,
    event_name: 'call',
    external_customer_id: ['=c0', 'c1', 'c2'][n % 3]!,
    timestamp: at(n),
    source: 'test',
    properties: { text: HOSTILE[n % HOSTILE.length], n },
  }));
  for (let from = 0; from < EVENTS; from += 1_000)
    await world.send(events.slice(from, from + 1_000));
  // Copies of one event: the same time and id, on both sides of where a part ends.
  for (let copy = 0; copy < 3; copy++) await world.send([events[100]!]);
  await world.send([
    {
      event_name: 'gauge',
      external_customer_id: 'c1',
      timestamp: at(1),
      properties: { n: '-2.50' },
    },
  ]);
  await world.settled();
});
afterAll(() => world.close());

const RANGE = 'start_time=2026-11-01T00:00:00Z&end_time=2026-11-08T00:00:00Z';

/** All parts of an export, each compared with its checksum and its number of rows. */
async function whole(path: string, query: string): Promise<{ rows: any[]; parts: number }> {
  const rows: any[] = [];
  let cursor = '';
  for (let parts = 1; ; parts++) {
    const answer = await world.api.get(`/v1${path}?${query}${cursor}`);
    expect(answer.status).toBe(200);
    const text = typeof answer.body === 'string' ? answer.body : (answer.body ?? '');
    const { headers } = answer;
    expect(createHash('sha256').update(text).digest('hex')).toBe(headers['x-checksum-sha256']);
    const read = query.includes('jsonl')
      ? text
          .split('\n')
          .filter(Boolean)
          .map((line: string) => JSON.parse(line))
      : parse(text, { columns: true });
    expect(headers['x-row-count']).toBe(String(read.length));
    rows.push(...read);
    if (headers['x-next-cursor'] === undefined) return { rows, parts };
    cursor = `&cursor=${String(headers['x-next-cursor'])}`;
  }
}

describe('GET /events/export', () => {
  test.each([
    ['one part', 10_000, 1],
    ['parts of 1,000', 1_000, 3],
    ['parts that end between copies of one event', 102, 23],
  ])('CSV in %s: every copy once, in the order of time', async (_what, limit, parts) => {
    const { rows, parts: count } = await whole(
      '/events/export',
      `${RANGE}&limit=${limit}&event_name=call`,
    );
    expect(count).toBe(parts);
    expect(rows).toHaveLength(EVENTS + 3);
    expect(new Set(rows.map((row) => row.event_id)).size).toBe(EVENTS);
    const canonical = rows.filter((row) => row.is_canonical === 'true');
    expect(canonical.map((row) => row.event_id)).toEqual(
      Array.from({ length: EVENTS }, (_, n) => `e-${n}`),
    );
  });

  test('a part of one row has every copy of its event', async () => {
    const query = `start_time=${at(99)}&end_time=${at(102)}&limit=1`;
    const { rows, parts } = await whole('/events/export', query);
    expect(rows.map((row) => row.event_id)).toEqual(['e-99', ...Array(4).fill('e-100'), 'e-101']);
    expect(parts).toBe(3);
  });

  test('formulas of spreadsheets are exported as text; values are returned as sent', async () => {
    const { rows } = await whole(
      '/events/export',
      `${RANGE}&limit=200&event_name=call&external_customer_id=%3Dc0`,
    );
    expect(rows.every((row) => row.external_customer_id === "'=c0")).toBe(true);
    expect(JSON.parse(rows[0].properties)).toEqual({ text: '=1+1', n: 0 });
    for (const row of rows)
      for (const cell of Object.values(row)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });

  test('JSON lines are the events as they are listed', async () => {
    const { rows } = await whole('/events/export', `${RANGE}&format=jsonl&limit=2000&source=test`);
    expect(rows).toHaveLength(EVENTS + 3);
    expect(rows[5]).toMatchObject({
      id: 'e-5',
      event_name: 'call',
      external_customer_id: 'c2',
      timestamp: at(5),
      properties: { text: HOSTILE[5], n: 5 },
      is_canonical: true,
    });
    const answer = await world.api.get(`/v1/events/export?${RANGE}&format=jsonl&limit=1`);
    expect(answer.headers['content-type']).toBe('application/x-ndjson; charset=utf-8');
  });

  test('another tenant gets the first line and nothing else', async () => {
    const other = await world.api.newCaller();
    const { body } = await other.get(`/v1/events/export?${RANGE}`);
    expect(body.trim().split('\n')).toHaveLength(1);
  });

  test.each([
    'format=xml',
    'limit=0',
    'limit=50001',
    'cursor=%00',
    'cursor=bm9uc2Vuc2U',
    'start_time=2026-11-02T00:00:00Z&end_time=2026-11-01T00:00:00Z',
    'start_time=yesterday',
  ])('400: %s', async (query) => {
    expect((await world.api.get(`/v1/events/export?${query}`)).status).toBe(400);
  });
});

describe('GET /usage/export', () => {
  const usageOf = async (customer: string) =>
    (
      await world.api.post('/v1/events/usage/meter', {
        meter_id: meter.id,
        external_customer_id: customer,
        start_time: '2026-11-01T00:00:00Z',
        end_time: '2026-11-08T00:00:00Z',
      })
    ).body.value;

  test.each([10_000, 1])('a row for each customer, parts of %d', async (limit) => {
    const query = `${RANGE}&meter_id=${meter.id}&limit=${limit}`;
    const { rows } = await whole('/usage/export', query);
    expect(rows.map((row) => row.external_customer_id)).toEqual(["'=c0", 'c1', 'c2']);
    for (const [index, customer] of ['=c0', 'c1', 'c2'].entries())
      expect(Number(rows[index].quantity)).toBe(await usageOf(customer));
  });

  test('a bucketed meter has its own buckets, whatever windows are requested', async () => {
    const peak = await world.catalog.meter(
      { type: 'MAX', field: 'n', bucket_size: 'HOUR' },
      { event_name: 'call' },
    );
    await world.settled();
    const query = `${RANGE}&meter_id=${peak.id}&external_customer_id=c1&format=jsonl`;
    const { rows } = await whole('/usage/export', query);
    const months = await whole('/usage/export', `${query}&window_size=MONTH`);
    expect(rows.length).toBeGreaterThan(30);
    expect(months.rows).toEqual(rows);
  });

  test('windows of a customer add up; numbers keep their sign', async () => {
    const query = `${RANGE}&meter_id=${meter.id}&window_size=HOUR&external_customer_id=c1&format=jsonl`;
    const { rows } = await whole('/usage/export', query);
    expect(rows.length).toBeGreaterThan(30);
    const total = rows.reduce((sum, row) => sum + Number(row.quantity), 0);
    expect(total).toBe(await usageOf('c1'));
    const negative = await whole('/usage/export', `${RANGE}&meter_id=${gauge.id}`);
    expect(negative.rows).toMatchObject([{ external_customer_id: 'c1', quantity: '-2.5' }]);
  });

  test('404: another tenant’s meter; 400: no meter, a bad cursor', async () => {
    const other = await world.api.newCaller();
    expect((await other.get(`/v1/usage/export?meter_id=${meter.id}`)).status).toBe(404);
    expect((await world.api.get('/v1/usage/export')).status).toBe(400);
    const bad = await world.api.get(`/v1/usage/export?meter_id=${meter.id}&cursor=AA`);
    expect(bad.status).toBe(400);
  });
});
