import { loadavg } from 'node:os';
import { benchRow, type BenchRow } from './bench-row.ts';
import { heapMegabytes } from './hostile/heap.ts';
import { startHostileServer } from './hostile/server.ts';
import { seededRandom } from './random.ts';

const REQUESTS = Number(process.env['BENCH_REQUESTS'] ?? 10_000);
const SEED = Number(process.env['SEED'] ?? 1);
const POINTS = 10;
const GROWTH_MB_MAX = 5;

/**
 * Sends hostile requests (`bench/hostile/`) and measures the heap after a full collection at ten points. The
 * first half fills what is made once: schemas compiled for each route, code, caches of a fixed size. The bar is
 * on the growth over the second half, in which code is still compiled and connections still prepare statements,
 * which they keep until their lifetime ends. The figure contains no times, so other work on the machine does not
 * change it.
 */
export async function run(): Promise<BenchRow[]> {
  const server = await startHostileServer();
  try {
    const random = seededRandom(SEED);
    const points: number[] = [];
    let serverErrors = 0;
    for (let sent = 1; sent <= REQUESTS; sent += 1) {
      const status = await server.send(random.pick(server.cases));
      // 503: no stream runs here, so usage of a new meter is never whole.
      if (status >= 500 && status !== 503) serverErrors += 1;
      if (sent % Math.ceil(REQUESTS / POINTS) !== 0) continue;
      points.push(heapMegabytes());
      await server.renewRecords();
    }
    const growth = points.at(-1)! - points[Math.floor(points.length / 2) - 1]!;
    const heap = points.map((megabytes) => megabytes.toFixed(1)).join(',');
    process.stdout.write(
      `memory requests=${REQUESTS} heap_mb=${heap} second_half_growth_mb=${growth.toFixed(1)} 5xx=${serverErrors} SEED=${SEED}\n`,
    );
    const notes = `${REQUESTS} hostile requests, ${serverErrors} answered 5xx; heap in MB: ${heap}; load average ${loadavg()[0]!.toFixed(1)}`;
    return [
      benchRow(
        'growth of the heap over 5,000 hostile requests',
        growth,
        'MB',
        GROWTH_MB_MAX,
        notes,
      ),
    ];
  } finally {
    await server.close();
  }
}
