import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { recordCrc } from '../../../platform/event-log/record-crc.ts';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  EpochClosed,
  type ConsumeOptions,
  type EventLog,
  type LogAssignment,
  type LogBatch,
  type LogConsumer,
  type LogReader,
  type LogStart,
} from '../../../platform/event-log/event-log.ts';
import { epochToRead, type LogEpoch } from '../../../domain/metering/epochs.ts';
import type { HandledLog, LogFault } from '../../../domain/metering/log-identity.ts';
import { BillingError } from '../../../domain/errors.ts';
import type { FaultProxy } from '../../../bench/kill/fault-proxy.ts';
import { WAIT_MS } from '../../support/patience.ts';

export interface LogUnderTest {
  /** A handle on the one log of the test; every call is what another process would open. */
  open(options?: { appendDeadlineMs?: number; maxPendingBytes?: number }): Promise<EventLog>;
  /** The same log, reached through a network that can fail. */
  openThroughProxy(options?: {
    appendDeadlineMs?: number;
    maxPendingBytes?: number;
  }): Promise<{ log: EventLog; proxy: FaultProxy }>;
  /** How another process finds the log. */
  readonly address: string;
  close(): Promise<void>;
}

const PARTITIONS = 4;
const QUICK: ConsumeOptions = { maxBatchWaitMs: 20 };

/** The contract of every implementation of the event log. */
export function eventLogContract(create: (partitions: number) => Promise<LogUnderTest>): void {
  let subject: LogUnderTest;
  let log: EventLog;
  const opened: EventLog[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    subject = await create(PARTITIONS);
    log = await another();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      child.kill('SIGCONT');
    }
    await Promise.all(opened.splice(0).map((each) => each.close()));
    await subject.close();
  });

  async function another(
    options: { appendDeadlineMs?: number; maxPendingBytes?: number } = {},
  ): Promise<EventLog> {
    const handle = await subject.open(options);
    opened.push(handle);
    return handle;
  }

  function childProcess(mode: 'write' | 'read'): { child: ChildProcess; lines: string[] } {
    const script = fileURLToPath(new URL('./log-process.ts', import.meta.url));
    const child = spawn(
      process.execPath,
      ['--import', './scripts/typescript.js', script, mode, subject.address],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    );
    children.push(child);
    const lines: string[] = [];
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop()!;
      lines.push(...parts);
    });
    return { child, lines };
  }

  describe('append and read', () => {
    test('offers the partitions it was created with, in epoch 0', async () => {
      expect(log.partitions).toBe(PARTITIONS);
      expect(log.epoch).toBe(0);
      const reopened = await another();
      expect(reopened.partitions).toBe(PARTITIONS);
    });

    test('records of a partition are read in the order of their appends, without gaps', async () => {
      for (let n = 0; n < 60; n++) await log.append([record(n % PARTITIONS, `${n}`)]);
      const read = await readUntil(log, 60);
      for (let partition = 0; partition < PARTITIONS; partition++) {
        expect(read.values(partition).map(Number)).toEqual(
          Array.from({ length: 15 }, (_, k) => k * PARTITIONS + partition),
        );
        expect(read.offsets(partition)).toEqual(Array.from({ length: 15 }, (_, k) => BigInt(k)));
      }
    });

    test('records of one call keep their order within a partition', async () => {
      await log.append(Array.from({ length: 100 }, (_, n) => record(n % 2, `${n}`)));
      const read = await readUntil(log, 100);
      expect(read.values(0).map(Number)).toEqual(Array.from({ length: 50 }, (_, k) => 2 * k));
      expect(read.values(1).map(Number)).toEqual(Array.from({ length: 50 }, (_, k) => 2 * k + 1));
    });

    test('many callers in several processes: nothing is lost, offsets have no gaps', async () => {
      const logs = [log, await another(), await another()];
      const sent: string[] = [];
      await Promise.all(
        logs.map(async (each, who) => {
          for (let round = 0; round < 20; round++)
            await Promise.all(
              Array.from({ length: 5 }, (_, n) => {
                const text = `${who}-${round}-${n}`;
                sent.push(text);
                return each.append([record((round + n) % PARTITIONS, text)]);
              }),
            );
        }),
      );
      const read = await readUntil(log, sent.length);
      expect(read.all().sort()).toEqual(sent.sort());
      for (let partition = 0; partition < PARTITIONS; partition++)
        expect(read.offsets(partition)).toEqual(read.offsets(partition).map((_, k) => BigInt(k)));
    });

    test('values are returned unchanged, also with 0 and with 2 million bytes', async () => {
      const large = Buffer.alloc(2_000_000, 'meterline');
      const odd = Buffer.from([0, 255, 92, 120, 39, 0]);
      await log.append([
        { partition: 1, value: Buffer.alloc(0), eventCount: 0 },
        { partition: 1, value: large, eventCount: 1 },
        { partition: 1, value: odd, eventCount: 1 },
      ]);
      const read = await readUntil(log, 3);
      const values = read.batches.flatMap((batch) => batch.records.map((each) => each.value));
      expect(values[0]!.length).toBe(0);
      expect(values[1]!.equals(large)).toBe(true);
      expect(values[2]!.equals(odd)).toBe(true);
    });

    test('a batch begins where the one before it ended', async () => {
      const reading = read(log, 'g', { options: { maxBatchEvents: 10, maxBatchWaitMs: 1 } });
      for (let n = 0; n < 50; n++) await log.append([record(0, `${n}`)]);
      await reading.until(() => reading.count() === 50);
      await reading.stop();
      let expected = 0n;
      for (const batch of reading.batches) {
        expect(batch.epoch).toBe(0);
        expect(batch.records[0]!.offset).toBe(expected);
        expect(batch.nextOffset).toBe(expected + BigInt(batch.records.length));
        expected = batch.nextOffset;
      }
    });

    test('records that name a closed epoch are refused', async () => {
      await expect(
        log.append([{ ...record(0, 'late'), epoch: log.epoch + 1 }]),
      ).rejects.toBeInstanceOf(EpochClosed);
    });
  });

  describe('durability', () => {
    test('every acknowledged record exists after kill -9, at any moment', async () => {
      const { child, lines } = childProcess('write');
      await poll(() => lines.length > 200);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const acknowledged = lines.length;
      // The log may have one more that was on its way, so their count does not tell that all are read.
      const reading = read(log, 'reader');
      await reading.until(() => {
        const found = new Set(reading.all());
        return Array.from({ length: acknowledged }, (_, n) => String(n)).every((n) => found.has(n));
      });
      await reading.stop();
    });
  });

  describe('where reading starts', () => {
    test('at the answer of start, not at the offset the log remembers', async () => {
      for (let n = 0; n < 10; n++) await log.append([record(2, `${n}`)]);
      const first = await readUntil(log, 10, 'g');
      expect(first.values(2)).toHaveLength(10);
      const again = read(log, 'g', { start: (partition) => (partition === 2 ? 4n : 0n) });
      await again.until(() => again.count() === 6);
      await again.stop();
      expect(again.values(2)).toEqual(['4', '5', '6', '7', '8', '9']);
    });

    test('at the end, when everything was handled before', async () => {
      for (let n = 0; n < 3; n++) await log.append([record(0, `${n}`)]);
      const reading = read(log, 'g', { start: (partition) => (partition === 0 ? 3n : 0n) });
      await reading.until(() => reading.assigned().length === PARTITIONS);
      await log.append([record(0, 'new')]);
      await reading.until(() => reading.count() > 0);
      await reading.stop();
      expect(reading.all()).toEqual(['new']);
    });

    test('a reader that refuses the assignment is asked again', async () => {
      await log.append([record(0, 'a')]);
      let refusals = 0;
      const reading = read(log, 'g', {
        start: (partition) => {
          if (partition === 0 && refusals++ < 2) throw new Error('not yet');
          return 0n;
        },
      });
      await reading.until(() => reading.count() >= 1);
      await reading.stop();
      expect(refusals).toBeGreaterThanOrEqual(3);
    });

    test('a failed batch is delivered again, from the offset that start returns then', async () => {
      for (let n = 0; n < 5; n++) await log.append([record(1, `${n}`)]);
      let failed = false;
      let starts = 0;
      const reading = read(log, 'g', {
        start: (partition) => (partition === 1 && ++starts > 1 ? 2n : 0n),
        handle: (batch) => {
          if (batch.partition !== 1 || failed) return;
          failed = true;
          throw new Error('the store is away');
        },
      });
      await reading.until(() => reading.values(1).at(-1) === '4');
      await reading.stop();
      expect(starts).toBe(2);
      expect(reading.values(1)).toEqual(['2', '3', '4']);
    });

    test('the last handled record is compared: a different record means a different log', async () => {
      for (let n = 0; n < 5; n++) await log.append([record(0, `${n}`), record(1, `${n}`)]);
      const reading = read(log, 'g', {
        start: (partition) => (partition < 2 ? 4n : 0n),
        handled: (partition) =>
          partition < 2 ? { lastCrc: recordCrc(Buffer.from(partition === 0 ? '3' : 'three')) } : {},
      });
      await reading.until(() => reading.values(0).length === 1 && reading.faults.length > 0);
      await reading.stop();
      expect(reading.values(0)).toEqual(['4']);
      expect(reading.values(1)).toEqual([]);
      expect(reading.faults[0]).toEqual([1, 'another_record']);
    });

    test('a log that ends before the handled offset is refused, not waited for', async () => {
      await log.append([record(0, 'a')]);
      const reading = read(log, 'g', { start: (partition) => (partition === 0 ? 4n : 0n) });
      await reading.until(() => reading.faults.length > 0);
      for (let n = 0; n < 6; n++) await log.append([record(0, `later-${n}`)]);
      expect(reading.faults[0]).toEqual([0, 'log_too_short']);
      await reading.stop();
    });

    test('all kept records of a partition can be read outside of any group', async () => {
      for (let n = 0; n < 50; n++) await log.append([record(n % 2, `${n}`)]);
      await log.truncate(1, 5n);
      const found: string[] = [];
      for await (const records of log.read(0, 1))
        found.push(...records.map(({ offset, value }) => `${offset}:${value}`));
      expect(found).toEqual(Array.from({ length: 20 }, (_, n) => `${n + 5}:${2 * (n + 5) + 1}`));
    });

    test('never below what was truncated', async () => {
      for (let n = 0; n < 10; n++) await log.append([record(0, `${n}`)]);
      await log.truncate(0, 6n);
      let from = 0n;
      const reading = read(log, 'g', { start: (partition) => (partition === 0 ? from : 0n) });
      await reading.until(() => reading.starts(0) >= 2);
      expect(reading.count()).toBe(0);
      from = 6n;
      await reading.until(() => reading.count() === 4);
      await reading.stop();
      expect(reading.values(0)).toEqual(['6', '7', '8', '9']);
    });
  });

  describe('several consumers of one group', () => {
    test('share the partitions; the remaining one takes over', async () => {
      const progress = sharedProgress();
      const first = read(log, 'g', progress);
      await first.until(() => first.assigned().length === PARTITIONS);
      const second = read(await another(), 'g', progress);
      await second.until(() => first.assigned().length === 2 && second.assigned().length === 2);
      expect([...first.assigned(), ...second.assigned()].sort()).toEqual([0, 1, 2, 3]);
      expect(first.takenAway.length).toBeGreaterThanOrEqual(2);

      for (let n = 0; n < 40; n++) await log.append([record(n % PARTITIONS, `${n}`)]);
      await first.until(() => first.count() + second.count() >= 40);
      await second.stop();
      await first.until(() => first.assigned().length === PARTITIONS);
      for (let n = 40; n < 80; n++) await log.append([record(n % PARTITIONS, `${n}`)]);
      await first.until(() => new Set([...first.all(), ...second.all()]).size === 80);
      await first.stop();
    });

    test('groups read independently', async () => {
      await log.append([record(0, 'a'), record(3, 'b')]);
      const one = await readUntil(log, 2, 'one');
      const two = await readUntil(log, 2, 'two');
      expect(one.all().sort()).toEqual(two.all().sort());
    });

    test('consumers come and go under load: every record is handled, in order', async () => {
      const progress = sharedProgress();
      const stay = read(log, 'g', progress);
      let sent = 0;
      const visitors: Reading[] = [];
      for (let visit = 0; visit < 3; visit++) {
        const visitor = read(await another(), 'g', progress);
        visitors.push(visitor);
        const until = Date.now() + 1_500;
        while (Date.now() < until) await log.append([record(sent % PARTITIONS, `${sent++}`)]);
        await visitor.stop();
      }
      const everything = () => [stay, ...visitors].flatMap((each) => each.all());
      await stay.until(() => new Set(everything()).size === sent);
      await stay.stop();
      for (const each of [stay, ...visitors])
        for (const batch of each.batches)
          expect(batch.records.map((r) => r.offset)).toEqual(
            batch.records.map((_, k) => batch.records[0]!.offset + BigInt(k)),
          );
    });

    test('a paused process loses its partitions to another; it may come back as a zombie', async () => {
      for (let n = 0; n < 8; n++) await log.append([record(n % PARTITIONS, `${n}`)]);
      const { child, lines } = childProcess('read');
      await poll(() => new Set(lines.filter((line) => line.includes(':'))).size === 8);
      child.kill('SIGSTOP');
      const reading = read(log, 'paused', { start: (partition) => (partition === 0 ? 2n : 0n) });
      await reading.until(() => reading.assigned().length === PARTITIONS);
      await log.append([record(0, 'after')]);
      await reading.until(() => reading.values(0).includes('after'));
      child.kill('SIGCONT');
      await reading.until(() => reading.assigned().length === PARTITIONS / 2);
      await reading.stop();
    });
  });

  describe('positions', () => {
    test('contain the first offset, the next offset and the committed offset of the group', async () => {
      for (let n = 0; n < 5; n++) await log.append([record(0, `${n}`)]);
      expect(await log.positions('g')).toEqual(
        Array.from({ length: PARTITIONS }, (_, partition) => ({
          epoch: 0,
          partition,
          first: 0n,
          next: partition === 0 ? 5n : 0n,
          committed: null,
        })),
      );
      await readUntil(log, 5, 'g');
      await log.truncate(0, 3n);
      const [position] = await log.positions('g');
      expect(position).toEqual({ epoch: 0, partition: 0, first: 3n, next: 5n, committed: 5n });
      await expect(log.truncate(PARTITIONS, 1n)).rejects.toThrow();
    });
  });

  describe('when the log cannot be reached', () => {
    const DEADLINE_MS = 1_500;
    /** Tried until it is stored: a busy machine may need longer than the deadline of one append. */
    const appendAtLast = (handle: EventLog, text: string) =>
      poll(() =>
        handle.append([record(0, text)]).then(
          () => true,
          () => false,
        ),
      );

    test.each(['refuse', 'hang'] as const)(
      'connections %s: an append throws in bounded time, and works again afterwards',
      async (fault) => {
        const { log: far, proxy } = await subject.openThroughProxy({
          appendDeadlineMs: DEADLINE_MS,
        });
        opened.push(far);
        await appendAtLast(far, 'before');
        proxy[fault]();
        for (let attempt = 0; attempt < 2; attempt++) {
          const began = performance.now();
          const refusal = await far.append([record(0, 'during')]).then(
            () => undefined,
            (error: unknown) => error,
          );
          expect(refusal).toBeInstanceOf(BillingError);
          expect((refusal as BillingError).kind).toBe('unavailable');
          // Without a bound it would wait for as long as the fault lasts.
          expect(performance.now() - began).toBeLessThan(DEADLINE_MS + WAIT_MS / 2);
        }
        proxy.pass();
        await appendAtLast(far, 'after');
        const reading = read(log, 'reader');
        await reading.until(() => reading.values(0).includes('after'));
        await reading.stop();
        expect(reading.values(0)[0]).toBe('before');
      },
    );

    test('memory is bounded: records beyond the bound are refused at once', async () => {
      const { log: far, proxy } = await subject.openThroughProxy({
        appendDeadlineMs: DEADLINE_MS,
        maxPendingBytes: 1_000_000,
      });
      opened.push(far);
      await appendAtLast(far, 'before');
      proxy.hang();
      const value = Buffer.alloc(100_000);
      const refused: number[] = [];
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          far.append([{ partition: 0, value, eventCount: 1 }]).then(
            () => 'stored',
            () => refused.push(n),
          ),
        ),
      );
      expect(answers).not.toContain('stored');
      // The first ten wait until their deadline; the others were refused before that.
      const held = Array.from({ length: 10 }, (_, n) => n);
      expect(refused.slice(90).sort((a, b) => a - b)).toEqual(held);
      proxy.pass();
    });
  });

  function read(handle: EventLog, group: string, behaviour: Behaviour = {}): Reading {
    return new Reading(handle, group, behaviour);
  }

  async function readUntil(handle: EventLog, count: number, group = 'reader'): Promise<Reading> {
    const reading = read(handle, group);
    await reading.until(() => reading.count() >= count);
    await reading.stop();
    return reading;
  }
}

export function record(partition: number, text: string) {
  return { partition, value: Buffer.from(text), eventCount: 1 };
}

export async function poll(
  condition: () => boolean | Promise<boolean>,
  withinMs = WAIT_MS,
): Promise<void> {
  const until = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`did not come true in ${withinMs} ms: ${condition}`);
    await sleep(10);
  }
}

interface Behaviour {
  start?(partition: number, epoch: number): bigint;
  /** What an earlier reader knows of the log. */
  handled?(partition: number): Partial<HandledLog>;
  /** How far an earlier reader came in the partitions of an epoch. */
  passed?(epoch: number): bigint;
  handle?(batch: LogBatch): void;
  options?: ConsumeOptions;
}

/** A consumer that stores its batches. */
export class Reading implements LogReader {
  readonly batches: LogBatch[] = [];
  readonly takenAway: number[] = [];
  readonly faults: [partition: number, fault: LogFault][] = [];
  readonly #starts = new Map<number, number>();
  readonly #passed = new Map<string, bigint>();
  readonly #behaviour: Behaviour;
  readonly #consumer: Promise<LogConsumer>;
  #held: LogConsumer | undefined;

  constructor(log: EventLog, group: string, behaviour: Behaviour) {
    this.#behaviour = behaviour;
    this.#consumer = log.consume(group, this, behaviour.options ?? QUICK);
    this.#consumer.then(
      (consumer) => (this.#held = consumer),
      () => {},
    );
  }

  epochToRead(epochs: readonly LogEpoch[]): Promise<number> {
    const progress = {
      passed: (epoch: number, partition: number) =>
        this.#passed.get(`${epoch}/${partition}`) ?? this.#behaviour.passed?.(epoch) ?? 0n,
      replays: () => false,
    };
    return Promise.resolve(epochToRead(epochs, progress));
  }

  async start({ epoch, partition }: LogAssignment): Promise<LogStart | null> {
    this.#starts.set(partition, this.starts(partition) + 1);
    const offset = this.#behaviour.start?.(partition, epoch) ?? 0n;
    const handled = this.#behaviour.handled?.(partition) ?? {};
    return startAt(offset, handled);
  }

  differs({ partition }: LogAssignment, fault: LogFault): Promise<void> {
    this.faults.push([partition, fault]);
    return Promise.resolve();
  }

  handle(batch: LogBatch): Promise<void> {
    return new Promise((resolve) => {
      this.#behaviour.handle?.(batch);
      this.batches.push(batch);
      this.#passed.set(`${batch.epoch}/${batch.partition}`, batch.nextOffset);
      resolve();
    });
  }

  revoked(partition: number): Promise<void> {
    this.takenAway.push(partition);
    return Promise.resolve();
  }

  starts(partition: number): number {
    return this.#starts.get(partition) ?? 0;
  }

  assigned(): number[] {
    return this.#held?.assigned() ?? [];
  }

  all(): string[] {
    return this.batches.flatMap((batch) => batch.records.map((r) => r.value.toString()));
  }

  count(): number {
    return this.batches.reduce((sum, batch) => sum + batch.records.length, 0);
  }

  values(partition: number): string[] {
    return this.#of(partition).map((r) => r.value.toString());
  }

  offsets(partition: number): bigint[] {
    return this.#of(partition).map((r) => r.offset);
  }

  async until(condition: () => boolean, withinMs = WAIT_MS): Promise<void> {
    await this.#consumer;
    await poll(condition, withinMs);
  }

  async stop(): Promise<void> {
    await (await this.#consumer).close();
  }

  #of(partition: number) {
    return this.batches.filter((b) => b.partition === partition).flatMap((b) => b.records);
  }
}

/** A start of a reader that knows nothing but its offset, unless more is given. */
export const startAt = (offset: bigint, handled: Partial<HandledLog> = {}): LogStart => ({
  offset,
  handled: { nextOffset: offset, lastCrc: null, storedUpTo: null, recordedEnd: null, ...handled },
});

/** Progress that consumers of one group share, as the stream keeps it in Postgres. */
function sharedProgress(): Behaviour {
  const offsets = new Map<number, bigint>();
  return {
    start: (partition) => offsets.get(partition) ?? 0n,
    handle: (batch) => void offsets.set(batch.partition, batch.nextOffset),
  };
}
