import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { apiDocument } from '../../api/app.ts';
import { EXAMPLE_IDS, EXAMPLES } from '../../api/conventions/examples.ts';
import {
  hostileCases,
  type Document,
  type HostileCase,
  type Records,
} from '../../bench/hostile/requests.ts';
import { INGEST_OPERATIONS } from '../../ingest/routes.ts';
import { startIngest, type TestIngest } from '../api/ingest/start-ingest.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { isErrorBody } from '../support/error-body.ts';
import { createRandom } from '../support/random.ts';
import { createWorld } from '../support/world.ts';

/** `DEEP=1` sends more of them, `REQUESTS=n` as many; `SEED=n` repeats a run. */
const DEEP = process.env['DEEP'] === '1';
const REQUESTS = Number(process.env['REQUESTS'] ?? (DEEP ? 10_000 : 600));
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
/** Requests change and delete the records that they name: so many, and there are new ones. */
const REQUESTS_OF_A_WORLD = 1_000;

interface Sent {
  readonly status: number;
  readonly body: unknown;
}

/** Every field, parameter and body of the document gets every hostile value, one at a time (tenancy S17). */
describe('hostile values', () => {
  const cases = hostileCases(apiDocument(INGEST_OPERATIONS) as Document);
  const isIngest = ({ operation }: HostileCase) =>
    INGEST_OPERATIONS.some(({ method, path }) => `${method} ${path}` === operation);
  let api: TestApi;
  let ingest: TestIngest;
  beforeAll(async () => {
    [api, ingest] = await Promise.all([startTestApi(), startIngest()]);
  });
  afterAll(() => Promise.all([api.close(), ingest.close()]));

  test('every operation with a parameter or a body has its cases', () => {
    expect(new Set(cases.map(({ operation }) => operation)).size).toBeGreaterThan(250);
    const fields = new Set(cases.map(({ operation, field }) => `${operation} ${field}`));
    for (const field of [
      'POST /plans body.metadata.k',
      'POST /prices body.tiers[0].unit_amount',
      'POST /plans/search body.filters[0].value.array[0]',
      'POST /events/bulk body.events[0].properties.k',
      'GET /customers query limit',
      'GET /plans/{id} path id',
    ])
      expect(fields).toContain(field);
  });

  test(`${REQUESTS} requests, SEED=${SEED}: none is answered 5xx, every refusal has one body`, async () => {
    const random = createRandom(SEED);
    const before = heapMegabytes();
    const counts = { effective: 0, serverErrors: 0, wrongShape: 0 };
    let world = await newWorld(api);
    const found: string[] = [];
    for (let sent = 1; sent <= REQUESTS; sent += 1) {
      if (sent % REQUESTS_OF_A_WORLD === 0) world = await newWorld(api);
      const each = random.pick(cases);
      const name = `${each.operation} ${each.field}: ${each.value}`;
      try {
        const { status, body } = await send(each, world);
        if (status < 300) counts.effective += 1;
        if (status < 400 || (status < 500 && isErrorBody(body, status))) continue;
        counts[status >= 500 ? 'serverErrors' : 'wrongShape'] += 1;
        found.push(`${name}\n${status} ${JSON.stringify(body)?.slice(0, 2_000)}`);
      } catch (error) {
        const { message, cause } = error as { message: string; cause?: { stack?: string } };
        counts[/answered 5\d\d/.test(message) ? 'serverErrors' : 'wrongShape'] += 1;
        found.push(`${name}\n${message.slice(0, 2_000)}\n${cause?.stack ?? ''}`);
      }
    }
    const { effective, serverErrors, wrongShape } = counts;
    process.stdout.write(
      `hostile requests=${REQUESTS} 5xx=${serverErrors} wrong_shape=${wrongShape} effective=${effective} SEED=${SEED}\n`,
    );
    if (DEEP) process.stdout.write(`heap_mb before=${before} after=${heapMegabytes()}\n`);
    expect(found.slice(0, DEEP ? 30 : 5)).toEqual([]);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(effective).toBeGreaterThan(REQUESTS / 50);
  }, 1_800_000);

  async function send(
    each: HostileCase,
    { caller, records }: Awaited<ReturnType<typeof newWorld>>,
  ): Promise<Sent> {
    const { method, url, payload, contentType } = each.request(records);
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    if (isIngest(each)) return ingest.post(url, payload ?? '', headers as Record<string, string>);
    return caller.call(method, url, payload, headers);
  }
});

/** A caller of a new tenant with a record of every kind. */
async function newWorld(api: TestApi) {
  const caller = await api.newCaller();
  const { foreign, bodies, filters, references } = await createWorld({ ...api, ...caller });
  const ids = {
    meter: foreign['/meters/{id}']!,
    feature: foreign['/features/{id}']!,
    plan: foreign['/plans/{id}']!,
    customer: foreign['/customers/{id}']!,
  };
  let examples = JSON.stringify(EXAMPLES);
  for (const [kind, id] of Object.entries(ids))
    examples = examples.replaceAll(EXAMPLE_IDS[kind as keyof typeof ids], id);
  let count = 0;
  const records: Records = {
    paths: foreign,
    bodies: {
      ...bodies,
      ...Object.fromEntries(
        Object.entries(filters).map(([path, filter]) => [`POST ${path}`, filter]),
      ),
      ...Object.fromEntries(
        references.map(([call, body]) => [call.replace(/\/v1|\?.*/g, ''), body]),
      ),
      ...(JSON.parse(examples) as Record<string, object>),
    },
    next: () => (count += 1),
  };
  return { caller, records };
}

let collect: (() => void) | null = null;

/** What is left after a collection. */
function heapMegabytes(): number {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
  return Math.round(process.memoryUsage().heapUsed / 2 ** 20);
}
