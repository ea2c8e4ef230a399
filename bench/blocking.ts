import { loadavg } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { benchRow, type BenchRow } from './bench-row.ts';
import { heapMegabytes } from './hostile/heap.ts';
import type { HostileCase } from './hostile/requests.ts';
import { startHostileServer, type HostileServer } from './hostile/server.ts';
import { mainThreadCpuMs } from './main-thread-cpu.ts';
import { seededRandom } from './random.ts';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 2_000);
/** Maximum number of requests with bodies of megabytes, apart from those of the event routes, which are all sent. */
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
 * includes the time that this process waits for a processor. `cpu` is the time for which
 * the main thread ran in that turn (`bench/main-thread-cpu.ts`); with a free processor, `wall` is close to `cpu`.
 * The bar is on `cpu`.
 */
export async function run(): Promise<BenchRow[]> {
  const server = await startHostileServer();
  try {
    return await measure(server);
  } finally {
    await server.close();
  }
}

async function measure(server: HostileServer): Promise<BenchRow[]> {
  const random = seededRandom(SEED);
  const { cases } = server;
  const large = cases.filter(({ value }) => /megabyte/.test(value));
  const sampled = Array.from({ length: REQUESTS }, () =>
    random.pick(random.chance(LARGE_SHARE) ? large : cases),
  );
  const ofEvents = large.filter(({ operation }) => /^POST \/events(\/|$)/.test(operation));
  const chosen = [...new Set([...sampled, ...ofEvents])];
  for (const each of chosen.slice(0, WARM_UP)) await server.send(each);

  const heapBefore = heapMegabytes();
  const blocked: Blocked[] = [];
  let serverErrors = 0;
  for (const each of chosen) {
    const one = await blockedBy(server, each);
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
    `blocking worst_cpu_ms=${worst.cpuMs.toFixed(1)} over_50_ms_cpu=${over} worst_wall_ms=${worstWallMs.toFixed(1)} over_50_ms_wall=${overWall} requests=${blocked.length} heap_growth_mb=${heapGrowth.toFixed(0)} 5xx=${serverErrors} SEED=${SEED}\n`,
  );
  const notes =
    `${worst.operation}, ${worst.body}; ${blocked.length} hostile requests, ${over} over ${BAR_MS} ms; ` +
    `wall clock ${worstWallMs.toFixed(0)} ms, ${overWall} over ${BAR_MS} ms; heap growth ${heapGrowth.toFixed(0)} MB, load average ${loadavg()[0]!.toFixed(1)}`;
  return [benchRow('longest hold of the event loop, cpu', worst.cpuMs, 'ms', BAR_MS, notes)];
}

async function blockedBy(server: HostileServer, each: HostileCase): Promise<Blocked> {
  const { operation, field, value } = each;
  let least = { wallMs: Infinity, cpuMs: Infinity, status: 0 };
  for (let tries = 0; tries < TRIES && least.wallMs > AGAIN_ABOVE_MS; tries += 1) {
    const request = server.prepare(each);
    const { status, wallMs, cpuMs } = await longestTurn(request);
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
