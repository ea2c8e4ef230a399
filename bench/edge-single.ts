import { benchRow, type BenchRow } from './bench-row.ts';
import { logStores } from './edge/log-store.ts';
import { measureEdge } from './edge/measure-edge.ts';
import { appendRow } from './log.ts';

const SECONDS = 10;
const CONNECTIONS = 64;

/** One event per call, 64 connections, answered when durable; autocannon runs on the same machine. */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const start of logStores()) {
    const store = await start();
    try {
      // Concurrent callers are grouped into records of about ten events.
      const bare = await appendRow(store, 10);
      const load = { kind: 'single', connections: CONNECTIONS, eventsPerCall: 1 } as const;
      const measured = await measureEdge(store, 1, load, SECONDS);
      const facts = `${measured.cpu}; ${CONNECTIONS} connections, autocannon beside it, refused ${measured.refused}`;
      rows.push(
        benchRow(
          `edge single, ${store.name}`,
          measured.eventsPerSecond,
          'calls/s',
          bare.figure,
          `${facts}; limit: bare append of records of 10`,
        ),
        benchRow(
          `edge single p99, ${store.name}`,
          measured.p99Ms,
          'ms',
          null,
          `p50 ${measured.p50Ms} ms at full load`,
        ),
      );
    } finally {
      await store.close();
    }
  }
  return rows;
}
