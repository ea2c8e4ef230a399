import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../bench/random.ts';
import type { ImportChildSettings } from '../support/import-child.ts';
import { WAIT_MS } from '../support/patience.ts';
import { startPipeline, type PipelineWorld } from '../support/pipeline-world.ts';
import { readLog } from '../support/usage-recount.ts';

const LOADER = fileURLToPath(new URL('../../scripts/typescript.js', import.meta.url));
const CHILD = fileURLToPath(new URL('../support/import-child.ts', import.meta.url));
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = seededRandom(SEED);
const KILLS = Number(process.env['IMPORT_KILLS'] ?? 4);
const ROWS = 4_000;

let world: PipelineWorld;
let url: string;
beforeAll(async () => {
  world = await startPipeline();
  const [row] = await world.api.pool<{ name: string }[]>`select current_database() as name`;
  const address = new URL(process.env['TEST_POSTGRES_URL']!);
  address.pathname = `/${row!.name}`;
  url = address.toString();
});
afterAll(() => world.close());

let tick = Date.parse('2001-01-01T00:00:00Z');

/** A jobs process; `killAfterMs` sends it SIGKILL from outside. */
async function runChild(failpoints: string, killAfterMs: number | null = null) {
  const settings: ImportChildSettings = {
    url,
    failpoints,
    tick: new Date((tick += 60_000)).toISOString(),
  };
  const child = spawn(process.execPath, ['--import', LOADER, CHILD, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = new Promise<string | null>((resolve) =>
    child.on('close', (_code, signal) => resolve(signal)),
  );
  if (killAfterMs !== null) void sleep(killAfterMs).then(() => child.kill('SIGKILL'));
  const signal = await ended;
  return { signal, report: output === '' ? undefined : JSON.parse(output) };
}

/** Every third row names no id, one in ten is no event, and one in twenty repeats the id of an earlier row. */
function file(name: string) {
  const lines = ['event_name,external_customer_id,timestamp,event_id,properties.tokens'];
  const counted = new Set<string>();
  let failed = 0;
  for (let row = 1; row <= ROWS; row++) {
    const isBad = random.chance(0.1);
    const repeats = row > 20 && random.chance(0.05);
    const id = row % 3 === 0 ? '' : `${name}-${repeats ? row - 20 - ((row - 20) % 3) + 1 : row}`;
    lines.push(`${name},acme,${isBad ? 'yesterday' : '2026-11-01T00:00:00Z'},${id},${row}`);
    if (isBad) failed += 1;
    else counted.add(id === '' ? `row ${row}` : id);
  }
  return { csv: `${lines.join('\n')}\n`, counted: counted.size, failed };
}

async function imported(name: string) {
  const { api, catalog } = world;
  const meter = await catalog.meter({ type: 'COUNT' }, { event_name: name });
  const made = file(name);
  const upload = await api.call('POST', '/v1/tasks/uploads', made.csv, {
    'content-type': 'text/csv',
  });
  const task = await api.post('/v1/tasks', {
    upload_id: upload.body.upload_id,
    file_provider: 'csvbox',
  });
  return { ...made, meter, id: task.body.id as string };
}

/** A process that kills itself there; first the lease of the one before has to run out. */
async function killedAt(point: string): Promise<void> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const { signal, report } = await runChild(`jobs.import_events.${point}`);
    if (signal === 'SIGKILL') return;
    if (report !== null || Date.now() > until) throw new Error(`not killed at ${point}`);
    await sleep(200);
  }
}

async function finish(id: string) {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    await runChild('');
    const { body } = await world.api.get(`/v1/tasks/${id}`);
    if (body.task_status === 'COMPLETED' || Date.now() > until) return body;
    await sleep(200);
  }
}

/** Each row has one result, each counted id one canonical event, and usage equals both. */
async function expectOnce(made: Awaited<ReturnType<typeof imported>>, name: string) {
  const { api } = world;
  expect((await api.get(`/v1/tasks/${made.id}`)).body).toMatchObject({
    task_status: 'COMPLETED',
    total_records: ROWS,
    processed_records: ROWS,
    successful_records: ROWS - made.failed,
    failed_records: made.failed,
  });
  const results: string = (await api.get(`/v1/tasks/${made.id}/results`)).body;
  const numbers = results
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => Number(line.split(',')[0]));
  expect(numbers).toEqual(Array.from({ length: ROWS }, (_, index) => index + 1));
  const log = (await readLog(api.pool)).filter(({ event }) => event.event_name === name);
  expect(new Set(log.map(({ event }) => event.event_id)).size).toBe(made.counted);
  await world.settled();
  const { body: usage } = await api.post('/v1/events/usage/meter', {
    meter_id: made.meter.id,
    external_customer_id: 'acme',
    start_time: '2026-11-01T00:00:00Z',
    end_time: '2026-11-02T00:00:00Z',
  });
  expect(Number(usage.value)).toBe(made.counted);
  return log.length;
}

describe(`kill -9 of the jobs role in the middle of an import (seed ${SEED})`, () => {
  test('between the log and the cursor, and between batches: each row counts once', async () => {
    const made = await imported('at_points');
    for (const point of ['after_commit', 'after_append', 'after_append', 'after_commit'])
      await killedAt(point);
    const { body } = await world.api.get(`/v1/tasks/${made.id}`);
    expect(body).toMatchObject({ task_status: 'PROCESSING', processed_records: 1_000 });
    await finish(made.id);
    // Two batches were appended and not noted: their rows are in the log again, under the same ids.
    expect(await expectOnce(made, 'at_points')).toBeGreaterThan(ROWS - made.failed);
  });

  test(`at random, ${KILLS} times`, async () => {
    const made = await imported('at_random');
    for (let kill = 0; kill < KILLS; kill++)
      await runChild('jobs.import_events.after_append:0.1', random.integer(400, 2_000));
    await finish(made.id);
    await expectOnce(made, 'at_random');
  });
});
