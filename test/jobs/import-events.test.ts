import { logUnavailable } from '../../platform/event-log/event-log.ts';
import { openPostgresEventLog, type PostgresEventLog } from '../../platform/event-log/postgres.ts';
import { InProcessRateLimiter } from '../../platform/cache/in-process-rate-limiter.ts';
import { createLogger } from '../../platform/log.ts';
import { createEventImport, type ImportEvents } from '../../ingest/import-events.ts';
import { importEvents } from '../../jobs/import-events.ts';
import { runJob } from '../../jobs/run-job.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { eventually } from '../support/metering-world.ts';
import { WAIT_MS } from '../support/patience.ts';
import { readLog } from '../support/usage-recount.ts';

let api: TestApi;
let eventLog: PostgresEventLog;
let isAway = false;
/** The event in which a bug of the import throws, as a driver does about a bad argument. */
let bugAt: string | null = null;
const logger = createLogger('silent', 'test');
beforeAll(async () => {
  api = await startTestApi();
  const [row] = await api.pool<{ name: string }[]>`select current_database() as name`;
  const url = new URL(process.env['TEST_POSTGRES_URL']!);
  url.pathname = `/${row!.name}`;
  eventLog = await openPostgresEventLog({
    url: url.toString(),
    logger,
    partitions: 2,
    appendDeadlineMs: WAIT_MS,
  });
});
afterAll(async () => {
  await eventLog.close();
  await api.close();
});
beforeEach(() => {
  isAway = false;
  bugAt = null;
});

let tick = Date.parse('2000-01-01T00:00:00Z');
async function run(perSecond = 0, stop?: AbortSignal) {
  const limits =
    perSecond === 0
      ? null
      : {
          limiter: new InProcessRateLimiter({ now: () => Date.now() }),
          perTenant: { perSecond, burst: 1 },
        };
  const log = {
    epoch: eventLog.epoch,
    partitions: eventLog.partitions,
    append: (records: Parameters<PostgresEventLog['append']>[0]) =>
      isAway ? Promise.reject(logUnavailable('test')) : eventLog.append(records),
  } as PostgresEventLog;
  const deps = {
    pool: api.pool,
    clock: api.clock,
    log: logger,
    importEvents: withBug(createEventImport({ log, clock: api.clock, limits })),
  };
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = { pool: api.pool, log: logger, holder: 'test', now };
  return await runJob(runner, importEvents, deps, new Date((tick += 60_000)).toISOString(), stop);
}

const withBug =
  (importAll: ImportEvents): ImportEvents =>
  (scope, events, signal) => {
    if (bugAt !== null && events.some(({ json }) => json.includes(`"${bugAt}"`)))
      throw Object.assign(new TypeError('bad argument'), { code: 'ERR_INVALID_ARG_TYPE' });
    return importAll(scope, events, signal);
  };

const HEADER = 'event_name,external_customer_id,timestamp,event_id,source,properties.n';
const row = (fields: Record<string, string> = {}) => {
  const filled: Record<string, string> = {
    event_name: 'call', external_customer_id: 'acme', timestamp: '2026-11-01T00:00:00Z', ...fields,
  }; // prettier-ignore
  return HEADER.split(',')
    .map((name) => `"${(filled[name] ?? '').replaceAll('"', '""')}"`)
    .join();
};
async function taskOf(lines: readonly string[], caller: TestCaller = api): Promise<string> {
  const csv = [HEADER, ...lines].join('\n');
  const headers = { 'content-type': 'text/csv' };
  const upload = await caller.call('POST', '/v1/tasks/uploads', csv, headers);
  const { upload_id } = upload.body;
  const made = await caller.post('/v1/tasks', { upload_id, file_provider: 'csvbox' });
  expect(made.status).toBe(202);
  return made.body.id;
}
const read = async (id: string, caller: TestCaller = api) =>
  (await caller.get(`/v1/tasks/${id}`)).body;
const resultsOf = async (id: string): Promise<string[]> =>
  (await api.get(`/v1/tasks/${id}/results`)).body.trim().split('\n').slice(1);
const logged = async (prefix: string) =>
  (await readLog(api.pool)).map(({ event }) => event).filter((e) => e.event_id.startsWith(prefix));

test('good rows are in the log as they were written; a row without an id is called by task and row', async () => {
  const id = await taskOf([
    row({ event_id: 'own-1', source: 's3', 'properties.n': '007' }),
    row({ 'properties.n': '=1+1' }),
  ]);
  expect(await run()).toMatchObject({ rows: 2, failed_rows: 0, waiting: 0 });
  expect(await read(id)).toMatchObject({
    task_status: 'COMPLETED',
    total_records: 2,
    processed_records: 2,
    successful_records: 2,
    failed_records: 0,
    error_summary: null,
    started_at: expect.any(String),
    completed_at: expect.any(String),
    failed_at: null,
  });
  expect(await logged('own-1')).toMatchObject([
    { ...api.scope, kind: 'usage', event_name: 'call', external_customer_id: 'acme', source: 's3', timestamp: Date.UTC(2026, 10, 1), properties: '{"n":"007"}' },
  ]); // prettier-ignore
  expect(await logged(id)).toMatchObject([
    { event_id: `${id}-2`, source: '', properties: '{"n":"=1+1"}' },
  ]);
  expect(await resultsOf(id)).toEqual(['1,accepted,own-1,,', `2,accepted,${id}-2,,`]);
  expect(await run()).toMatchObject({ rows: 0 });
});

test.each<[string, string, string, RegExp]>([
  ['a time without a zone', row({ timestamp: '2026-11-01 00:00' }), 'timestamp', /RFC 3339/],
  ['no time', row({ timestamp: '' }), 'timestamp', /is required/],
  [
    'a time far ahead',
    row({ timestamp: '2027-11-01T00:00:00Z' }),
    'timestamp',
    /24 hours in the future/,
  ],
  ['no event name', row({ event_name: '' }), 'event_name', /is required/],
  ['no customer', row({ external_customer_id: '' }), 'external_customer_id', /is required/],
  ['an id of 256 characters', row({ event_id: 'x'.repeat(256) }), 'event_id', /255 characters/],
  ['an id of 256 emoji', row({ event_id: '😀'.repeat(256) }), 'event_id', /255 characters/],
  ['control characters', row({ event_id: 'a\tb' }), 'event_id', /control characters/],
  ['a line end in a name', row({ event_name: 'a\nb' }), 'event_name', /control characters/],
  ['too few cells', 'call,acme', 'row', /2 cells where the first line has 6/],
  ['too many cells', `${row()},x,y`, 'row', /8 cells/],
])(
  '%s: that row fails, by its column, and its neighbours count',
  async (_what, bad, column, reason) => {
    const id = await taskOf([row(), bad, row()]);
    expect(await run()).toMatchObject({ rows: 3, failed_rows: 1 });
    const task = await read(id);
    expect(task).toMatchObject({
      task_status: 'COMPLETED',
      successful_records: 2,
      failed_records: 1,
    });
    expect(task.error_summary).toMatch(reason);
    expect(task.error_summary).toMatch(new RegExp(`^row 2: ${column}: `));
    const lines = await resultsOf(id);
    expect(lines[1]).toMatch(new RegExp(`^2,failed,,${column},`));
    expect((await logged(id)).map((event) => event.event_id).sort()).toEqual([
      `${id}-1`,
      `${id}-3`,
    ]);
  },
);

test('every row failed: the task has failed; the summary names the first ten', async () => {
  const id = await taskOf(Array.from({ length: 30 }, () => row({ timestamp: 'never' })));
  await run();
  const task = await read(id);
  expect(task).toMatchObject({ task_status: 'FAILED', failed_records: 30, completed_at: null });
  expect(task.error_summary.split('\n')).toHaveLength(10);
  expect(await logged(id)).toEqual([]);
  const again = await api.put(`/v1/tasks/${id}/status`, { task_status: 'PROCESSING' });
  expect(again.status).toBe(400);
});

test('formulas of spreadsheets are text in the results', async () => {
  const id = await taskOf([row({ event_id: '=cmd|calc' }), row({ event_id: '-1+1' })]);
  await run();
  expect(await resultsOf(id)).toEqual(["1,accepted,'=cmd|calc,,", "2,accepted,'-1+1,,"]);
});

test('the log is unreachable: the task waits at its cursor, and continues when the log is back', async () => {
  const id = await taskOf(Array.from({ length: 1_200 }, () => row()));
  isAway = true;
  expect(await run()).toMatchObject({ rows: 0, waiting: 1 });
  expect(await read(id)).toMatchObject({ task_status: 'PENDING', processed_records: 0 });
  isAway = false;
  expect(await run()).toMatchObject({ rows: 1_200, waiting: 0 });
  expect(new Set((await logged(id)).map(({ event_id }) => event_id)).size).toBe(1_200);
  expect(await resultsOf(id)).toHaveLength(1_200);
});

test('a bug of the service in one row fails that row, and not the file or all later runs', async () => {
  const names = Array.from({ length: 700 }, (_, index) => row({ source: `s${index}` }));
  const id = await taskOf(names);
  bugAt = 's333';
  expect(await run()).toMatchObject({ rows: 700, failed_rows: 1, waiting: 0 });
  expect(await read(id)).toMatchObject({
    task_status: 'COMPLETED',
    successful_records: 699,
    failed_records: 1,
    error_summary: expect.stringMatching(/^row 334: row: could not be imported/),
  });
  expect(new Set((await logged(id)).map(({ event_id }) => event_id)).size).toBe(699);
  expect(await run()).toMatchObject({ rows: 0 });
});

test('a stopped task is not processed; when it is resumed, it begins after its last row', async () => {
  const id = await taskOf(Array.from({ length: 3 }, () => row()));
  await api.put(`/v1/tasks/${id}/status`, { task_status: 'FAILED' });
  expect(await run()).toMatchObject({ rows: 0 });
  await api.put(`/v1/tasks/${id}/status`, { task_status: 'PROCESSING' });
  expect(await run()).toMatchObject({ rows: 3 });
  expect(await read(id)).toMatchObject({ task_status: 'COMPLETED', failed_at: null });
});

test('tasks of tenants run in parallel, each in its own scope', async () => {
  const other = await api.newCaller();
  const mine = await taskOf([row({ event_id: 'shared' })]);
  const theirs = await taskOf([row({ event_id: 'shared' })], other);
  expect(await run()).toMatchObject({ rows: 2 });
  for (const task of [await read(mine), await read(theirs, other)])
    expect(task.task_status).toBe('COMPLETED');
  const scopes = (await logged('shared')).map(({ tenant_id, environment_id }) => ({ tenant_id, environment_id })); // prettier-ignore
  expect(scopes).toEqual(expect.arrayContaining([api.scope, other.scope]));
});

test('a limit slows an import down and refuses nothing', async () => {
  await taskOf(Array.from({ length: 1_001 }, () => row()));
  const began = performance.now();
  expect(await run(2_000)).toMatchObject({ rows: 1_001, waiting: 0 });
  // Three batches: the second waits for the first one's 500 events, the third for the second's.
  expect(performance.now() - began).toBeGreaterThan(400);
});

test('a process that drains leaves the task at its cursor, and the next run continues', async () => {
  const id = await taskOf(Array.from({ length: 1_200 }, () => row()));
  const stop = new AbortController();
  // The first batch is free, the second would wait for minutes.
  const draining = run(1, stop.signal);
  await eventually(async () => expect((await read(id)).processed_records).toBe(500));
  stop.abort();
  expect(await draining).toMatchObject({ rows: 500 });
  expect(await read(id)).toMatchObject({ task_status: 'PROCESSING', processed_records: 500 });
  expect(await run()).toMatchObject({ rows: 700 });
  expect(await resultsOf(id)).toHaveLength(1_200);
});

test('the file is missing: the task fails with that reason', async () => {
  const id = await taskOf([row()]);
  await api.pool`delete from uploads where id = (select upload_id from tasks where id = ${id})`;
  await run();
  expect(await read(id)).toMatchObject({
    task_status: 'FAILED',
    error_summary: 'The file is no longer kept.',
  });
});
