import { epochToRead } from '../../../domain/metering/epochs.ts';
import { logFault, type HandledLog, type KeptLog } from '../../../domain/metering/log-identity.ts';

const handled: HandledLog = { nextOffset: 14n, lastCrc: 7, storedUpTo: null, recordedEnd: null };
const kept: KeptLog = { first: 3n, next: 20n, lastCrc: 7 };

describe('whether a log is the one that was read', () => {
  test.each<[string, Partial<HandledLog>, Partial<KeptLog>, string | null]>([
    ['the same log, longer', {}, {}, null],
    ['nothing new', {}, { next: 14n }, null],
    ['everything handled has left it', {}, { first: 14n, lastCrc: null }, null],
    ['the first reader', { nextOffset: 0n, lastCrc: null }, { first: 0n, lastCrc: null }, null],
    ['records left it unhandled', {}, { first: 15n }, 'records_missing'],
    ['its tail is lost', {}, { next: 13n }, 'log_too_short'],
    ['another record before the next', {}, { lastCrc: 8 }, 'another_record'],
    ['progress of a version without checksums', { lastCrc: null }, { lastCrc: 8 }, null],
    ['rows are stored of a record it has', { storedUpTo: 19n }, {}, null],
    ['rows are stored of a record it never gave', { storedUpTo: 20n }, {}, 'log_too_short'],
    ['a closed epoch that has shrunk', { recordedEnd: 21n }, {}, 'log_too_short'],
  ])('%s: %s', (_, reader, log, fault) => {
    expect(logFault({ ...handled, ...reader }, { ...kept, ...log })).toBe(fault);
  });
});

describe('which epoch is read', () => {
  const epochs = [
    { epoch: 0, partitions: 2, ends: [3n, 0n] },
    { epoch: 2, partitions: 1, ends: [5n] },
    { epoch: 3, partitions: 1, ends: null },
  ];
  test('an end that was not compared is no end', () => {
    const unknown = [{ epoch: 0, partitions: 2, ends: [3n, null] }, epochs[2]!];
    expect(epochToRead(unknown, reader({ '0/0': 3n, '0/1': 9n }))).toBe(0);
  });

  const reader = (passed: Record<string, bigint>, replays = '') => ({
    passed: (epoch: number, partition: number) => passed[`${epoch}/${partition}`] ?? 0n,
    replays: (epoch: number, partition: number) => replays === `${epoch}/${partition}`,
  });
  test.each([
    ['nothing was read', reader({}), 0],
    ['the first is drained', reader({ '0/0': 3n }), 2],
    ['all closed ones are drained', reader({ '0/0': 3n, '2/0': 5n }), 3],
    ['a drained one is replayed', reader({ '0/0': 3n, '2/0': 5n }, '0/1'), 0],
  ])('%s', (_, progress, epoch) => expect(epochToRead(epochs, progress)).toBe(epoch));
});
