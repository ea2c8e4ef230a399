import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';
import { apiDocument } from '../api/app.ts';
import { EXAMPLES } from '../api/conventions/examples.ts';
import { INGEST_OPERATIONS } from '../ingest/routes.ts';
import { apiPart } from '../main/api-part.ts';
import { ingestPart } from '../main/ingest-part.ts';
import { createRuntime } from '../main/runtime.ts';
import { createServer } from '../platform/http/server.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import {
  hostileCases,
  type Document,
  type HostileCase,
  type HostileRequest,
  type Records,
} from './hostile/requests.ts';
import { mainThreadCpuMs } from './main-thread-cpu.ts';
import { seededRandom } from './random.ts';
import { startProduct } from './whole/product.ts';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 2_000);
/** So many of them are megabytes as a whole; those of the event routes are all sent besides. */
const LARGE_SHARE = 0.15;
const SEED = Number(process.env['SEED'] ?? 1);
const BAR_MS = 50;
/** A request above it is sent again: what another process took from it does not come twice. */
const AGAIN_ABOVE_MS = 40;
const TRIES = 3;
const WARM_UP = 100;
const SHOWN = 10;

/** The longest turn of the event loop: the time that passed, and the time for which this thread computed. */
interface Turn {
  readonly wallMs: number;
  readonly cpuMs: number;
}
interface Blocked extends Turn {
  readonly operation: string;
  readonly body: string;
  readonly status: number;
}

/**
 * The ingest edge and the API in this process, over engines of their own, get hostile requests one after
 * another (`bench/hostile/`). Meanwhile the event loop is turned all the time: the longest turn of a request is
 * how long every other request would have waited for it. A long one is sent three times, and the shortest counts.
 * Passwords are hashed outside the event loop, so their routes are measured as the others are.
 *
 * Two times of the longest turn are reported. `wall` is the time that passed. On a machine with other work it
 * contains the waits of this process for a processor, and is then no property of the request. `cpu` is the time
 * for which the main thread ran in that turn (`bench/main-thread-cpu.ts`); a machine with a free processor has
 * `wall` close to `cpu`. The bar is on `cpu`.
 */
export async function run(): Promise<BenchRow[]> {
  const product = await startProduct({ roles: [] });
  const runtime = createRuntime('bench', {
    ...process.env,
    LOG_LEVEL: 'fatal',
    POSTGRES_URL: product.postgresUrl,
    API_POSTGRES_URL: product.apiPostgresUrl,
    CLICKHOUSE_URL: product.clickhouseUrl,
    ENCRYPTION_KEY: `bench:${randomBytes(32).toString('base64')}`,
    API_REQUESTS_PER_SECOND: '0',
  });
  const app = createServer({ log: runtime.log });
  try {
    for (const part of [ingestPart, apiPart]) await (await part(runtime)).register(app);
    await app.ready();
    return await measure(app, product.apiKey!);
  } finally {
    await app.close();
    await runtime.close();
    await product.close();
  }
}

async function measure(app: FastifyInstance, apiKey: string): Promise<BenchRow[]> {
  const records = await makeRecords(app, apiKey);
  const random = seededRandom(SEED);
  const cases = hostileCases(apiDocument(INGEST_OPERATIONS) as Document);
  const large = cases.filter(({ value }) => /megabyte/.test(value));
  const sampled = Array.from({ length: REQUESTS }, () =>
    random.pick(random.chance(LARGE_SHARE) ? large : cases),
  );
  const ofEvents = large.filter(({ operation }) => /^POST \/events(\/|$)/.test(operation));
  const chosen = [...new Set([...sampled, ...ofEvents])];
  for (const each of chosen.slice(0, WARM_UP)) await send(app, apiKey, each.request(records));

  const heapBefore = heapMegabytes();
  const blocked: Blocked[] = [];
  let serverErrors = 0;
  for (const each of chosen) {
    const one = await blockedBy(app, apiKey, each, records);
    // 503: no stream runs here, so usage of a new meter is never whole.
    if (one.status >= 500 && one.status !== 503) {
      serverErrors += 1;
      process.stderr.write(`${one.status}: ${one.operation}, ${one.body}\n`);
    }
    blocked.push(one);
  }
  const heapGrowth = heapMegabytes() - heapBefore;
  blocked.sort((one, other) => other.cpuMs - one.cpuMs);
  const worst = blocked[0]!;
  const over = blocked.filter(({ cpuMs }) => cpuMs > BAR_MS).length;
  const worstWallMs = Math.max(...blocked.map(({ wallMs }) => wallMs));
  const overWall = blocked.filter(({ wallMs }) => wallMs > BAR_MS).length;
  process.stdout.write(`${worstTable(blocked.slice(0, SHOWN))}\n`);
  process.stdout.write(
    `blocking worst_cpu_ms=${worst.cpuMs.toFixed(1)} over_50_ms_cpu=${over} worst_wall_ms=${worstWallMs.toFixed(1)} over_50_ms_wall=${overWall} requests=${blocked.length} heap_growth_mb=${heapGrowth} 5xx=${serverErrors} SEED=${SEED}\n`,
  );
  const notes =
    `${worst.operation}, ${worst.body}; ${blocked.length} hostile requests, ${over} over ${BAR_MS} ms; ` +
    `wall clock ${worstWallMs.toFixed(0)} ms, ${overWall} over ${BAR_MS} ms; heap growth ${heapGrowth} MB, load average ${loadavg()[0]!.toFixed(1)}`;
  return [benchRow('longest hold of the event loop, cpu', worst.cpuMs, 'ms', BAR_MS, notes)];
}

async function blockedBy(
  app: FastifyInstance,
  apiKey: string,
  each: HostileCase,
  records: Records,
): Promise<Blocked> {
  const { operation, field, value } = each;
  let least = { wallMs: Infinity, cpuMs: Infinity, status: 0 };
  for (let tries = 0; tries < TRIES && least.wallMs > AGAIN_ABOVE_MS; tries += 1) {
    const request = each.request(records);
    const { status, wallMs, cpuMs } = await longestTurn(() => send(app, apiKey, request));
    least = {
      status,
      wallMs: Math.min(least.wallMs, wallMs),
      cpuMs: Math.min(least.cpuMs, cpuMs),
    };
  }
  return { operation, body: `${field}: ${value}`, ...least };
}

/** The longest time between two turns of the event loop until the work is done. */
async function longestTurn(
  work: () => Promise<number>,
): Promise<Turn & { readonly status: number }> {
  let wallMs = 0;
  let cpuMs = 0;
  let turnedAt = performance.now();
  let cpuAt = mainThreadCpuMs();
  const turned = (): void => {
    const now = performance.now();
    const cpu = mainThreadCpuMs();
    wallMs = Math.max(wallMs, now - turnedAt);
    cpuMs = Math.max(cpuMs, cpu - cpuAt);
    turnedAt = performance.now();
    cpuAt = cpu;
  };
  let isDone = false;
  const working = work().finally(() => (isDone = true));
  turned();
  while (!isDone) {
    await nextTurn();
    turned();
  }
  return { status: await working, wallMs, cpuMs };
}

async function send(
  app: FastifyInstance,
  apiKey: string,
  { method, url, payload, contentType }: HostileRequest,
): Promise<number> {
  const { statusCode } = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      'x-api-key': apiKey,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
    },
    ...(payload === undefined ? {} : { payload }),
  });
  return statusCode;
}

/** What the examples of the document make, for the others to name. */
async function makeRecords(app: FastifyInstance, apiKey: string): Promise<Records> {
  const paths: Record<string, string> = {};
  let text = JSON.stringify(EXAMPLES);
  for (const operation of Object.keys(EXAMPLES)) {
    const body = (JSON.parse(text) as Record<string, Record<string, unknown>>)[operation]!;
    const path = operation.split(' ')[1]!;
    const answer = await app.inject({
      method: 'POST',
      url: `/v1${path}`,
      headers: { 'x-api-key': apiKey },
      payload: body,
    });
    if (answer.statusCode >= 300) throw new Error(`${operation}: ${answer.body}`);
    const { id } = answer.json<{ id?: string }>();
    if (id === undefined) continue;
    paths[`${path}/{id}`] = id;
    const kind = id.split('_')[0]!;
    text = text.replaceAll(new RegExp(`"${kind}_[0-9A-Z]{26}"`, 'g'), JSON.stringify(id));
  }
  let count = 0;
  return {
    paths,
    bodies: JSON.parse(text) as Record<string, object>,
    next: () => (count += 1),
  };
}

function worstTable(worst: readonly Blocked[]): string {
  const rows = [
    ['operation', 'body', 'status', 'cpu ms', 'wall ms'],
    ...worst.map(({ operation, body, status, cpuMs, wallMs }) => [
      operation,
      body,
      String(status),
      cpuMs.toFixed(1),
      wallMs.toFixed(1),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
        )
        .join('  '),
    )
    .join('\n');
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
