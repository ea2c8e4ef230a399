import { createInterface } from 'node:readline';
import { pino } from 'pino';
import type { EventLog } from '../../../platform/event-log/event-log.ts';
import { openKafkaEventLog } from '../../../platform/event-log/kafka.ts';
import { openPostgresEventLog } from '../../../platform/event-log/postgres.ts';
import { WAIT_MS } from '../../support/patience.ts';

/**
 * A process of its own around an event log, for tests that kill or pause one.
 * `write`: appends numbered records as fast as they are acknowledged and prints each number after its
 * acknowledgement. `read`: consumes from 0 and prints `partition:offset` of each record.
 */
const [mode, address] = process.argv.slice(2) as [string, string];

async function open(): Promise<EventLog> {
  const logger = pino({ level: 'silent' });
  const target = JSON.parse(address) as { url: string } | { brokers: string[]; topic: string };
  return 'url' in target
    ? openPostgresEventLog({ ...target, logger, leaseMs: 1_000, appendDeadlineMs: WAIT_MS })
    : openKafkaEventLog({
        ...target,
        replicationFactor: target.brokers.length >= 3 ? 3 : 1,
        logger,
        sessionTimeoutMs: 6_000,
        appendDeadlineMs: WAIT_MS,
      });
}

const log = await open();
if (mode === 'write') {
  for (let number = 0; ; number++) {
    const value = Buffer.from(String(number));
    await log.append([{ partition: number % log.partitions, value, eventCount: 1 }]);
    process.stdout.write(`${number}\n`);
  }
}
await log.consume(
  'paused',
  {
    epochToRead: (epochs) => Promise.resolve(epochs.at(-1)!.epoch),
    start: () =>
      Promise.resolve({
        offset: 0n,
        handled: { nextOffset: 0n, lastCrc: null, storedUpTo: null, recordedEnd: null },
      }),
    handle(batch) {
      for (const record of batch.records)
        process.stdout.write(`${batch.partition}:${record.offset}\n`);
      return Promise.resolve();
    },
  },
  { maxBatchWaitMs: 10 },
);
process.stdout.write('consuming\n');
createInterface(process.stdin).on('close', () => process.exit(0));
