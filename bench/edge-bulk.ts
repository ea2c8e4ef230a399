import { EventReader } from '../ingest/event-reader.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import { logStores } from './edge/log-store.ts';
import { measureEdge } from './edge/measure-edge.ts';
import { sentEvent } from './edge/payload.ts';
import { appendRow } from './log.ts';

const SECONDS = 10;
const EVENTS_PER_CALL = 1000;
const CONNECTIONS = 16;

/** Bulk calls of 1,000 events, answered when durable; the load tool runs on the same machine. */
export async function run(): Promise<BenchRow[]> {
  const rows = [parseRow()];
  const parse = rows[0]!.figure;
  for (const start of logStores()) {
    const store = await start();
    try {
      const bare = await appendRow(store, EVENTS_PER_CALL);
      const edgeCounts = store.name === 'kafka' ? [1, 2] : [1];
      for (const edges of edgeCounts) {
        const load = {
          kind: 'bulk',
          connections: CONNECTIONS,
          eventsPerCall: EVENTS_PER_CALL,
        } as const;
        const measured = await measureEdge(store, edges, load, SECONDS);
        rows.push(
          benchRow(
            `edge bulk, ${store.name}, ${edges} edge${edges > 1 ? 's' : ''}`,
            measured.eventsPerSecond,
            'events/s',
            bare.figure,
            `${measured.cpu}; p50 ${measured.p50Ms.toFixed(0)} ms, p99 ${measured.p99Ms.toFixed(0)} ms, ` +
              `${CONNECTIONS} connections, refused ${measured.refused}; limit: bare append (parse alone: ${parse})`,
          ),
        );
      }
    } finally {
      await store.close();
    }
  }
  return rows;
}

/** Only parses and checks the same bodies, on one core; compared with `JSON.parse` of them. */
function parseRow(): BenchRow {
  const bodies = Array.from({ length: 16 }, (_, call) =>
    Buffer.from(
      JSON.stringify({
        events: Array.from({ length: EVENTS_PER_CALL }, (_, n) =>
          sentEvent(call * EVENTS_PER_CALL + n, Date.now()),
        ),
      }),
    ),
  );
  const context = { tenant_id: 't', environment_id: 'e', now: Date.now(), newEventId: () => '' };
  const check = (body: Buffer): void => {
    const reader = new EventReader(context, 'native');
    reader.bulk(body);
    if (reader.problems.length > 0) throw new Error(reader.problems[0]!.message);
  };
  const perSecond = (work: (body: Buffer) => void): number => {
    for (let n = 0; n < 100; n++) work(bodies[n % bodies.length]!);
    let best = 0;
    for (let round = 0; round < 5; round++) {
      const began = performance.now();
      for (const body of bodies) work(body);
      best = Math.max(
        best,
        (bodies.length * EVENTS_PER_CALL) / ((performance.now() - began) / 1000),
      );
    }
    return best;
  };
  const figure = perSecond(check);
  const bare = perSecond((body) => JSON.parse(body.toString()));
  return benchRow(
    'edge parse and check',
    figure,
    'events/s',
    bare,
    `one core, ${Math.round(bodies[0]!.length / EVENTS_PER_CALL)} B/event; limit: JSON.parse of the same bodies`,
  );
}
