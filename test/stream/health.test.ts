import { streamHealth, STUCK_AFTER_MS } from '../../domain/metering/stream-health.ts';
import { StuckWatch } from '../../stream/stuck-watch.ts';
import { Troubles } from '../../stream/troubles.ts';

const fine = { stopped: 0, refused: 0, waitsForStore: false, waitingMs: 0 };

describe('health of the stream', () => {
  test.each([
    ['nothing waits', {}, 'up'],
    ['a store is away', { waitsForStore: true, waitingMs: 10 * STUCK_AFTER_MS }, 'degraded'],
    ['a partition is stopped', { stopped: 1, waitsForStore: true }, 'down'],
    ['a partition is refused', { refused: 1 }, 'down'],
    ['records wait and nothing moves', { waitingMs: STUCK_AFTER_MS + 1 }, 'down'],
    ['records wait for a moment', { waitingMs: 1_000 }, 'up'],
  ] as const)('%s', (_, state, health) => expect(streamHealth({ ...fine, ...state })).toBe(health));
});

describe('how long records wait', () => {
  const head = (next: bigint, partition = 0) => ({ epoch: 0, partition, next });
  const at = (nextOffset: bigint, partition = 0) => ({ epoch: 0, partition, nextOffset });

  test('from the first check that finds them, until their partition moves', () => {
    const watch = new StuckWatch();
    expect(watch.look([head(5n)], [at(5n)], 1_000)).toBe(0);
    expect(watch.look([head(6n)], [at(5n)], 60_000)).toBe(0);
    expect(watch.look([head(9n), head(1n, 1)], [at(5n), at(1n, 1)], 90_000)).toBe(30_000);
    expect(watch.look([head(9n)], [at(6n)], 100_000)).toBe(0);
    expect(watch.look([head(9n)], [at(9n)], 200_000)).toBe(0);
  });
});

describe('partitions that a process refuses', () => {
  test('are named while the refusal is repeated, and forgotten when a batch was processed', () => {
    let now = 0;
    const troubles = new Troubles(() => now);
    troubles.note(3, new Error('no'));
    troubles.note(1, new Error('not yet'));
    now = 20_000;
    troubles.note(1, new Error('not yet'));
    expect(troubles.current().map(({ partition }) => partition)).toEqual([1, 3]);
    now = 40_000;
    expect(troubles.current()).toEqual([{ partition: 1, reason: 'not yet' }]);
    troubles.solved(1);
    expect(troubles.current()).toEqual([]);
  });
});
