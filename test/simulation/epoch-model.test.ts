import { decide } from '../../domain/metering/decide.ts';
import { epochToRead, type LogEpoch } from '../../domain/metering/epochs.ts';
import { logFault } from '../../domain/metering/log-identity.ts';
import { packPosition, type Position } from '../../domain/metering/position.ts';
import { partitionOf } from '../../schemas/events/slot.ts';
import { search, type State } from './search.ts';

/**
 * Exhaustive check of what happens around the log (metering 3 and 4): a resize by another process at any
 * moment, the id filter of each assignment, commits that come late or never, a store that loses its rows
 * and is replayed, a log that loses its tail, and a database that is put back to an earlier state, with a
 * crash in between. The production functions decide: `epochToRead`, `logFault`, `decide`, `partitionOf`.
 * No id may count twice, ever. At rest every id that was counted or is in the log counts once, and
 * nothing is left to replay. Switching a rule off shows that it is needed.
 */
interface Rules {
  /** An assignment's filter holds the slots of its own epoch's partition count. */
  readonly filterOfEpoch: boolean;
  /** Drained is decided from the reader's progress, not from the log's commits. */
  readonly ownProgress: boolean;
  /** A drained epoch is read again while something of it is to be replayed. */
  readonly replaysOfDrained: boolean;
  /** The log is compared with what was handled before reading goes on. */
  readonly identity: boolean;
  /** Rows beyond the progress are compared with the log. */
  readonly storedRows: boolean;
  /** The end of a closed partition counts when the partition was compared with what was handled of it. */
  readonly comparesEnds: boolean;
  /** A new epoch takes rows beyond the progress of stopped partitions out of the store. */
  readonly removesUnfinished: boolean;
}
const ALL_RULES: Rules = {
  filterOfEpoch: true,
  ownProgress: true,
  replaysOfDrained: true,
  identity: true,
  storedRows: true,
  comparesEnds: true,
  removesUnfinished: true,
};
type Fault = 'store' | 'tail' | 'restore';

/** Records are numbered by their appends; an odd one is event a, an even one event b. */
const SCRIPT = [2, 1, 4];
const isA = (record: number): boolean => record % 2 === 1;
const SLOTS = ['00000000', '00000001'] as const;
const idOf = (record: number): 0 | 1 => (isA(record) ? 0 : 1);
/** Partitions of the epochs 0, 1 and 2. */
const COUNTS = [1, 2, 2];
const PLACES = COUNTS.flatMap((count, epoch) =>
  Array.from({ length: count }, (_, partition) => ({ epoch, partition })),
);
const placeOf = (epoch: number, partition: number): number =>
  PLACES.findIndex((place) => place.epoch === epoch && place.partition === partition);
const RECORDS_MAX = 4;

// Places in a state, each of five: records by offset (four bits each), then numbers.
const [LOG, USAGE, INDEX, PROGRESS, CRC, COMMIT] = [0, 5, 10, 15, 20, 25];
/** Next offset and end of a replay, one more than their values; 0 for none. */
const [REPLAY, REPLAY_END] = [30, 35];
/** Whether a partition is stopped; the noted end of a closed epoch, one more than its value. */
const [STOP, END] = [40, 45];
const [OPEN, APPENDED, NEXT, RESIZES, CRASHES, FAULTS, COUNTED] = [50, 51, 52, 53, 54, 55, 56];
/** The consumer: its epoch, then for two partitions the next offset and the filter, then its batch. */
const [READING, AT, FILTER, BATCH, STEP, VERDICT] = [57, 58, 60, 62, 63, 64];
/** Whether the epoch was closed when the consumer began to read it. */
const CLOSED = 65;
const SIZE = 66;
const [DECIDE, WRITE_INDEX, WRITE_USAGE, MOVE, TELL_LOG] = [0, 1, 2, 3, 4];

const recordAt = (records: number, offset: number): number => (records >> (4 * offset)) & 15;
const withRecord = (records: number, offset: number, record: number): number =>
  (records & ~(15 << (4 * offset))) | (record << (4 * offset));
const lengthOf = (records: number): number => {
  let length = 0;
  while (length < RECORDS_MAX && recordAt(records, length) !== 0) length++;
  return length;
};
const cut = (records: number, length: number): number => records & ((1 << (4 * length)) - 1);

function start(fault: Fault | null): State {
  const state = new Array<number>(SIZE).fill(0);
  state[NEXT] = 5;
  state[RESIZES] = 1;
  state[CRASHES] = 1;
  state[FAULTS] = fault === null ? 0 : 1;
  return state;
}

type Change = (edit: (next: number[]) => void) => void;

function next(rules: Rules, fault: Fault | null, state: State, emit: (s: number[]) => void): void {
  const change: Change = (edit) => {
    const copy = state.slice();
    edit(copy);
    emit(copy);
  };
  const record = SCRIPT[state[APPENDED]!];
  if (record !== undefined)
    change((s) => {
      s[APPENDED]!++;
      append(s, record);
    });
  if (state[RESIZES]! > 0 && state[OPEN] === 0)
    change((s) => {
      s[RESIZES]!--;
      s[OPEN]!++;
    });
  if (state[CRASHES]! > 0 && state[READING]! > 0)
    change((s) => {
      s[CRASHES]!--;
      crash(s);
    });
  if (state[FAULTS]! > 0 && fault !== null) faults(fault, state, change);
  if (PLACES.some((_, place) => state[STOP + place]! > 0) && state[OPEN]! < 2)
    change((s) => openNewEpoch(rules, s));
  stepConsumer(rules, state, change);
}

function append(state: number[], record: number): void {
  const epoch = state[OPEN]!;
  const place = placeOf(epoch, partitionOf(SLOTS[idOf(record)], COUNTS[epoch]!));
  const records = state[LOG + place]!;
  if (lengthOf(records) === RECORDS_MAX) throw new Error('the model is too small');
  state[LOG + place] = withRecord(records, lengthOf(records), record);
}

function crash(state: number[]): void {
  for (let place = READING; place < SIZE; place++) state[place] = 0;
}

function faults(fault: Fault, state: State, change: Change): void {
  if (fault === 'store')
    return change((s) => {
      s[FAULTS]!--;
      crash(s);
      for (let place = 0; place < PLACES.length; place++) {
        s[USAGE + place] = s[INDEX + place] = 0;
        if (s[PROGRESS + place] === 0) continue;
        s[REPLAY + place] = 1;
        s[REPLAY_END + place] = 1 + s[PROGRESS + place]!;
      }
    });
  for (let place = 0; place < PLACES.length; place++) {
    const length = lengthOf(state[LOG + place]!);
    if (length === 0 || PLACES[place]!.epoch !== state[OPEN]) continue;
    change((s) => {
      s[FAULTS]!--;
      crash(s);
      s[LOG + place] = cut(s[LOG + place]!, length - 1);
      if (fault === 'tail' || s[PROGRESS + place]! < length) return;
      s[PROGRESS + place] = length - 1;
      s[CRC + place] = length > 1 ? recordAt(s[LOG + place]!, length - 2) : 0;
    });
  }
}

/** What `openNewEpoch` does for the stopped partitions. */
function openNewEpoch(rules: Rules, state: number[]): void {
  const stopped = PLACES.flatMap((_, place) => (state[STOP + place]! > 0 ? [place] : []));
  if (stopped.some((place) => PLACES[place]!.epoch === state[OPEN])) state[OPEN]!++;
  crash(state);
  const again = (record: number): void => {
    while (isA(state[NEXT]!) !== isA(record)) state[NEXT]!++;
    append(state, state[NEXT]!++);
  };
  for (const place of stopped) {
    for (let offset = 0; offset < RECORDS_MAX; offset++) {
      const kept = recordAt(state[LOG + place]!, offset);
      if (kept > 0) again(kept);
      if (offset < state[PROGRESS + place]!) continue;
      const stored = recordAt(state[USAGE + place]! | state[INDEX + place]!, offset);
      if (stored > 0) again(stored);
      if (!rules.removesUnfinished) continue;
      state[USAGE + place] = withRecord(state[USAGE + place]!, offset, 0);
      state[INDEX + place] = withRecord(state[INDEX + place]!, offset, 0);
    }
    state[END + place] = 1 + state[PROGRESS + place]!;
    state[STOP + place] = 0;
  }
}

function chosenEpoch(rules: Rules, state: State): number {
  const epochs = COUNTS.slice(0, state[OPEN]! + 1).map((partitions, epoch): LogEpoch => {
    const ends = Array.from({ length: partitions }, (_, partition) => {
      const place = placeOf(epoch, partition);
      const isKnown = state[END + place]! > 0 || !rules.comparesEnds;
      return isKnown ? BigInt(endOf(state, place)) : null;
    });
    return { epoch, partitions, ends: epoch === state[OPEN] ? null : ends };
  });
  return epochToRead(epochs, {
    passed(epoch, partition) {
      const place = placeOf(epoch, partition);
      return BigInt(state[(rules.ownProgress ? PROGRESS : COMMIT) + place]!);
    },
    replays: (epoch, partition) =>
      rules.replaysOfDrained && state[REPLAY + placeOf(epoch, partition)]! > 0,
  });
}

/** Where a partition ends for its reader. */
function endOf(state: State, place: number): number {
  const noted = state[END + place]!;
  return noted > 0 ? noted - 1 : lengthOf(state[LOG + place]!);
}

function stepConsumer(rules: Rules, state: State, change: Change): void {
  if (state[BATCH]! > 0) return stepBatch(rules, state, change);
  const chosen = chosenEpoch(rules, state);
  if (state[READING] === 0) {
    change((s) => {
      s[READING] = chosen + 1;
      s[CLOSED] = chosen < s[OPEN]! ? 1 : 0;
    });
    return;
  }
  const epoch = state[READING]! - 1;
  // Also when the epoch was closed meanwhile: its partitions are assigned again.
  if (chosen !== epoch || (state[CLOSED] === 0 && epoch < state[OPEN]!))
    change((s) => {
      crash(s);
      s[READING] = chosen + 1;
      s[CLOSED] = chosen < s[OPEN]! ? 1 : 0;
    });
  for (let partition = 0; partition < COUNTS[epoch]!; partition++) {
    const place = placeOf(epoch, partition);
    const at = state[AT + partition]!;
    if (at === 0) {
      if (state[STOP + place] === 0) change((s) => assign(rules, s, epoch, partition));
    } else if (at - 1 < endOf(state, place) && at - 1 < lengthOf(state[LOG + place]!))
      change((s) => (s[BATCH] = partition + 1));
  }
}

function assign(rules: Rules, state: number[], epoch: number, partition: number): void {
  const place = placeOf(epoch, partition);
  const progress = state[PROGRESS + place]!;
  const records = state[LOG + place]!;
  const replay = state[REPLAY + place]!;
  const isDrained = state[END + place]! > 0 && progress >= state[END + place]! - 1;
  const handled = {
    nextOffset: BigInt(progress),
    lastCrc: progress > 0 ? state[CRC + place]! : null,
    storedUpTo: rules.storedRows && !isDrained ? storedBeyond(state, place) : null,
    recordedEnd: state[END + place]! > 0 ? BigInt(state[END + place]! - 1) : null,
  };
  const last = progress > 0 ? recordAt(records, progress - 1) : 0;
  const kept = { first: 0n, next: BigInt(lengthOf(records)), lastCrc: last > 0 ? last : null };
  const isIdle = isDrained && replay === 0;
  if (!isIdle && rules.identity && logFault(handled, kept) !== null) {
    state[STOP + place] = 1;
    return;
  }
  if (state[CLOSED] === 1 && state[END + place] === 0) state[END + place] = 1 + lengthOf(records);
  state[AT + partition] = replay > 0 ? replay : progress + 1;
  const count = COUNTS[rules.filterOfEpoch ? epoch : state[OPEN]!]!;
  const loaded = ([0, 1] as const).filter(
    (id) => partitionOf(SLOTS[id], count) === partition && smallest(state, id) !== null,
  );
  state[FILTER + partition] = loaded.reduce<number>((mask, id) => mask | (1 << id), 0);
}

function storedBeyond(state: State, place: number): bigint | null {
  for (let offset = RECORDS_MAX - 1; offset >= state[PROGRESS + place]!; offset--)
    if (recordAt(state[USAGE + place]! | state[INDEX + place]!, offset) > 0) return BigInt(offset);
  return null;
}

const positionOf = (place: number, offset: number): Position =>
  packPosition(PLACES[place]!.epoch, BigInt(offset), 0);

/** The smallest position of an id in the index. */
function smallest(state: State, id: 0 | 1): Position | null {
  let found: Position | null = null;
  for (let place = 0; place < PLACES.length; place++)
    for (let offset = 0; offset < RECORDS_MAX; offset++) {
      const record = recordAt(state[INDEX + place]!, offset);
      if (record === 0 || idOf(record) !== id) continue;
      const position = positionOf(place, offset);
      if (found === null || position < found) found = position;
    }
  return found;
}

function stepBatch(rules: Rules, state: State, change: Change): void {
  const partition = state[BATCH]! - 1;
  const place = placeOf(state[READING]! - 1, partition);
  const offset = state[AT + partition]! - 1;
  const record = recordAt(state[LOG + place]!, offset);
  const id = idOf(record);
  const step = (edit: (s: number[]) => void): void =>
    change((s) => {
      edit(s);
      s[STEP]!++;
    });
  switch (state[STEP]) {
    case DECIDE: {
      const stored = recordAt(state[USAGE + place]! | state[INDEX + place]!, offset);
      const isBeyond = offset >= state[PROGRESS + place]!;
      if (rules.storedRows && isBeyond && stored > 0 && idOf(stored) !== id)
        return change((s) => {
          s[STOP + place] = 1;
          crash(s);
        });
      const known = (state[FILTER + partition]! & (1 << id)) !== 0 ? smallest(state, id) : null;
      const indexed = new Map(known === null ? [] : [[SLOTS[id], known]]);
      const [canonical] = decide([SLOTS[id]], () => positionOf(place, offset), indexed);
      return step((s) => {
        s[VERDICT] = canonical ? 1 : 0;
        s[FILTER + partition]! |= 1 << id;
      });
    }
    case WRITE_INDEX:
      return step((s) => {
        if (s[VERDICT] === 1) s[INDEX + place] = withRecord(s[INDEX + place]!, offset, record);
      });
    case WRITE_USAGE:
      return step((s) => {
        if (s[VERDICT] === 1) s[USAGE + place] = withRecord(s[USAGE + place]!, offset, record);
      });
    case MOVE:
      return step((s) => {
        if (offset >= s[PROGRESS + place]!) {
          s[PROGRESS + place] = offset + 1;
          s[CRC + place] = record;
          s[COUNTED]! |= 1 << id;
        } else if (s[REPLAY + place]! > 0) {
          const isOver = offset + 2 >= s[REPLAY_END + place]!;
          s[REPLAY + place] = isOver ? 0 : offset + 2;
          if (isOver) s[REPLAY_END + place] = 0;
        }
      });
    case TELL_LOG:
      return change((s) => {
        s[COMMIT + place] = Math.max(s[COMMIT + place]!, offset + 1);
        s[AT + partition]!++;
        s[BATCH] = s[STEP] = s[VERDICT] = 0;
      });
  }
}

function countOf(state: State, id: 0 | 1): number {
  let count = 0;
  for (let place = 0; place < PLACES.length; place++)
    for (let offset = 0; offset < RECORDS_MAX; offset++) {
      const record = recordAt(state[USAGE + place]!, offset);
      if (record > 0 && idOf(record) === id) count++;
    }
  return count;
}

function violates(rules: Rules, state: State): boolean {
  const counts = [countOf(state, 0), countOf(state, 1)];
  if (counts.some((count) => count > 1)) return true;
  if (!standsStill(rules, state)) return false;
  // Nothing moves any more: everything must have been read, and counted.
  const isDone =
    state[READING] === state[OPEN]! + 1 &&
    PLACES.every(({ epoch }, place) => {
      if (state[REPLAY + place]! > 0) return false;
      return epoch !== state[OPEN] || state[PROGRESS + place] === lengthOf(state[LOG + place]!);
    });
  if (!isDone) return true;
  let owed = state[COUNTED]!;
  for (let place = 0; place < PLACES.length; place++)
    for (let offset = 0; offset < lengthOf(state[LOG + place]!); offset++)
      owed |= 1 << idOf(recordAt(state[LOG + place]!, offset));
  return counts.some((count, id) => (owed & (1 << id)) !== 0 && count !== 1);
}

/** Whether everything was appended and the consumer can do nothing more; a stop waits for a person. */
function standsStill(rules: Rules, state: State): boolean {
  if (state[APPENDED]! < SCRIPT.length || PLACES.some((_, place) => state[STOP + place]! > 0))
    return false;
  let moves = 0;
  stepConsumer(rules, state, () => moves++);
  return moves === 0;
}

const run = (rules: Partial<Rules>, fault: Fault | null) => {
  const all = { ...ALL_RULES, ...rules };
  return search({
    start: start(fault),
    next: (state, emit) => next(all, fault, state, emit),
    violates: (state) => violates(all, state),
  });
};

describe('epochs, the id filter, commits, replays and loss of the log, every interleaving', () => {
  test.each<[string, Fault | null]>([
    ['a resize and a crash', null],
    ['a store that lost its rows', 'store'],
    ['a log that lost its tail', 'tail'],
    ['a database that was put back', 'restore'],
  ])('holds with all rules: %s', (_, fault) => {
    const { states, violation } = run({}, fault);
    expect(violation).toBeNull();
    expect(states).toBeGreaterThan(1_000);
  });

  test.each<[string, Partial<Rules>, Fault | null]>([
    ['the filter is built with the count of the open epoch', { filterOfEpoch: false }, null],
    ['drained is decided from the commits of the log', { ownProgress: false }, null],
    ['replays of drained epochs are not read', { replaysOfDrained: false }, 'store'],
    ['the log is not compared with what was handled', { identity: false }, 'tail'],
    ['rows beyond the progress are not compared', { storedRows: false }, 'restore'],
    ['a closed partition ends where the log says', { comparesEnds: false }, 'tail'],
    ['a new epoch leaves unfinished rows in the store', { removesUnfinished: false }, 'restore'],
  ])('breaks when %s', (_, rules, fault) => {
    expect(run(rules, fault).violation).not.toBeNull();
  });
});
