import { benchRow, type BenchRow } from './bench-row.ts';
import { logStores, openLog, type LogStore } from './edge/log-store.ts';
import { storedEvent } from './edge/payload.ts';
import { decodeEvents, encodeEvents } from '../schemas/events/usage-event.ts';
import type { LogAppend } from '../platform/event-log/event-log.ts';

const SECONDS = 6;
const DISTINCT_RECORDS = 64;
const CALLERS = 8;

/** The log alone: encoded records in, encoded records out, no HTTP. */
export async function run(): Promise<BenchRow[]> {
  const rows: BenchRow[] = [];
  rows.push(...codecRows());
  for (const start of logStores()) {
    const store = await start();
    try {
      for (const size of [1000, 10]) rows.push(await appendRow(store, size));
      rows.push(await readRow(store));
    } finally {
      await store.close();
    }
  }
  return rows;
}

/** Appends records of this many events from several concurrent callers: the limit of this machine's log. */
export async function appendRow(store: LogStore, size: number): Promise<BenchRow> {
  const log = await openLog(store.address);
  const records = Array.from({ length: DISTINCT_RECORDS }, (_, n): LogAppend => {
    const events = Array.from({ length: size }, (_, k) => storedEvent(n * size + k, Date.now()));
    return { partition: n % log.partitions, value: encodeEvents(events), eventCount: size };
  });
  let next = 0;
  // Like an edge: a call has one record for each of several partitions.
  const call = () =>
    log.append(Array.from({ length: 4 }, () => records[next++ % DISTINCT_RECORDS]!));
  const append = async (until: number): Promise<number> => {
    let events = 0;
    for (; performance.now() < until; events += 4 * size) await call();
    return events;
  };
  const all = (seconds: number) => {
    const until = performance.now() + seconds * 1000;
    return Promise.all(Array.from({ length: CALLERS }, () => append(until)));
  };
  await all(1);
  const [storeBefore, ownBefore] = [store.cpuSeconds(), process.cpuUsage()];
  const began = performance.now();
  const events = (await all(SECONDS)).reduce((sum, count) => sum + count, 0);
  const seconds = (performance.now() - began) / 1000;
  const own = process.cpuUsage(ownBefore);
  const storeAfter = store.cpuSeconds();
  await log.close();
  const per = (used: number) => ((used / events) * 1e6).toFixed(2);
  const ofStore =
    storeBefore === null || storeAfter === null ? 'elsewhere' : per(storeAfter - storeBefore);
  return benchRow(
    `log append, ${store.name}, records of ${size}`,
    events / seconds,
    'events/s',
    null,
    `CPU s/M: caller ${per((own.user + own.system) / 1e6)}, log ${ofStore}; ${CALLERS} callers in one process, ${bytesPerEvent(records)} B/event`,
  );
}

async function readRow(store: LogStore): Promise<BenchRow> {
  const log = await openLog(store.address);
  const positions = await log.positions('bench');
  const total = positions.reduce((sum, { next }) => sum + next, 0n);
  let records = 0n;
  let events = 0;
  const ownBefore = process.cpuUsage();
  const began = performance.now();
  let done!: () => void;
  const finished = new Promise<void>((resolve) => (done = resolve));
  const consumer = await log.consume('bench', {
    epochToRead: (epochs) => Promise.resolve(epochs.at(-1)!.epoch),
    start: () =>
      Promise.resolve({
        offset: 0n,
        handled: { nextOffset: 0n, lastCrc: null, storedUpTo: null, recordedEnd: null },
      }),
    handle(batch) {
      for (const record of batch.records) events += decodeEvents(record.value).length;
      records += BigInt(batch.records.length);
      if (records >= total || performance.now() - began > SECONDS * 1000) done();
      return Promise.resolve();
    },
  });
  await finished;
  const seconds = (performance.now() - began) / 1000;
  const own = process.cpuUsage(ownBefore);
  await consumer.close();
  await log.close();
  const per = (((own.user + own.system) / 1e6 / events) * 1e6).toFixed(2);
  return benchRow(
    `log read and decode, ${store.name}`,
    events / seconds,
    'events/s',
    null,
    `CPU s/M: reader ${per}; ${events} events in ${records} records`,
  );
}

function codecRows(): BenchRow[] {
  const events = Array.from({ length: 1000 }, (_, n) => storedEvent(n, Date.now()));
  const record = encodeEvents(events);
  const rate = (work: () => unknown): number => {
    for (let n = 0; n < 200; n++) work();
    let best = 0;
    for (let round = 0; round < 5; round++) {
      const began = performance.now();
      for (let n = 0; n < 100; n++) work();
      best = Math.max(best, (100 * 1000) / ((performance.now() - began) / 1000));
    }
    return best;
  };
  return [
    benchRow(
      'record encode',
      rate(() => encodeEvents(events)),
      'events/s',
      null,
      'one core',
    ),
    benchRow(
      'record decode',
      rate(() => decodeEvents(record)),
      'events/s',
      null,
      'one core',
    ),
  ];
}

const bytesPerEvent = (records: readonly LogAppend[]): number =>
  Math.round(
    records.reduce((sum, { value }) => sum + value.length, 0) /
      records.reduce((sum, { eventCount }) => sum + eventCount, 0),
  );
