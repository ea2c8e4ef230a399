import { mayUseBucket } from '../../domain/metering/may-use-bucket.ts';
import { packPosition } from '../../domain/metering/position.ts';
import { search, type State } from './search.ts';

/**
 * Exhaustive check of buckets and billing reads (metering 5) for one key: two partitions, two sealers
 * of which one may be a zombie, one reader. A row is inserted, its mark appears a moment later (the
 * view), then the watermark passes it. A sealer may leave a hot bucket out of a cycle. A read that took
 * the watermarks must answer exactly the rows below them. Switching a rule off shows that it is needed.
 */
interface Rules {
  /** The vector of a seal is the watermark, never derived from the marks. */
  readonly targetIsWatermark: boolean;
  readonly recomputeBelowTarget: boolean;
  /** Seals are recorded by the newest generation only. */
  readonly fenced: boolean;
  /** Seal numbers carry the generation, so that a late zombie's bucket loses. */
  readonly newestGenerationWins: boolean;
  /** A bucket counts only once its seal is recorded. */
  readonly recordedFirst: boolean;
  /** Watermarks and recorded seals are read in one statement. */
  readonly snapshot: boolean;
  /** Which buckets are usable is decided once, for the buckets and for the rows around them. */
  readonly oneDecision: boolean;
}
const ALL_RULES: Rules = {
  targetIsWatermark: true,
  recomputeBelowTarget: true,
  fenced: true,
  newestGenerationWins: true,
  recordedFirst: true,
  snapshot: true,
  oneDecision: true,
};

/** The rows that touch the key, each worth one bit of the bucket's value; where partitions end. */
const ROWS = [
  { partition: 0, offset: 0 },
  { partition: 0, offset: 1 },
  { partition: 1, offset: 0 },
];
const ENDS = [2, 1];
type Vector = readonly [number, number];
const rowsBelow = (rows: number, below: Vector): number =>
  ROWS.reduce((set, row, bit) => (row.offset < below[row.partition]! ? set | (1 << bit) : set), 0) &
  rows;
const EVERY_ROW = (1 << ROWS.length) - 1;

// Places in a state. Seals: up to three times (generation, vector), in recorded order, so that the
// number of a seal is its place and what a reader knew is how many there were.
const [INSERTED, MARKED, WATERMARK, SEAL_COUNT, SEALS] = [0, 1, 2, 4, 5];
const SEAL_FIELDS = 3;
const SEALS_MAX = 3;
const [GENERATION, CRASHES, BUCKET] = [14, 15, 16];
/** generation, number (0: no bucket), vector, value */
const BUCKET_FIELDS = 5;
const SEALERS = BUCKET + BUCKET_FIELDS;
/** phase, generation, vector, value */
const SEALER_FIELDS = 5;
const [IDLE, TARGET, READ, WRITE, RECORD] = [0, 1, 2, 3, 4];
const READER = SEALERS + 2 * SEALER_FIELDS;
/** phase, vector, usable, seals known, the bucket as it was decided on */
const [RESTING, HAS_VECTORS, HAS_DECIDED] = [0, 1, 2];
const STATE_FIELDS = READER + 5 + BUCKET_FIELDS;

const START: State = new Array<number>(STATE_FIELDS).fill(0).with(CRASHES, 1);

const vectorAt = (state: State, place: number): Vector => [state[place]!, state[place + 1]!];

/** The answer of the production rule for a bucket, given as its five fields at `bucket`. */
function usable(rules: Rules, state: State, bucket: number, sealsKnown: number): boolean {
  const number = state[bucket + 1]!;
  if (number === 0) return false;
  if (!rules.recordedFirst) return mayUse(vectorAt(state, bucket + 2), state[MARKED]!);
  const seal = SEALS + (number - 1) * SEAL_FIELDS;
  const recorded = number <= sealsKnown && state[seal] === state[bucket];
  return mayUse(recorded ? vectorAt(state, seal + 1) : undefined, state[MARKED]!);
}

const answers = new Map<string, boolean>();

function mayUse(sealedBelow: Vector | undefined, marked: number): boolean {
  const key = `${sealedBelow?.join()} ${marked}`;
  const known = answers.get(key);
  if (known !== undefined) return known;
  const marks: Record<number, bigint> = {};
  ROWS.forEach(({ partition, offset }, bit) => {
    if ((marked & (1 << bit)) !== 0) marks[partition] = packPosition(0, BigInt(offset), 0);
  });
  const vector = sealedBelow && {
    0: packPosition(0, BigInt(sealedBelow[0]), 0),
    1: packPosition(0, BigInt(sealedBelow[1]), 0),
  };
  const answer = mayUseBucket(vector, marks);
  answers.set(key, answer);
  return answer;
}

type Change = (edit: (next: number[]) => void) => void;

function next(rules: Rules, state: State, emit: (state: number[]) => void): void {
  const change: Change = (edit) => {
    const copy = state.slice();
    edit(copy);
    emit(copy);
  };
  stepStream(state, change);
  for (const base of [SEALERS, SEALERS + SEALER_FIELDS]) stepSealer(rules, state, base, change);
  stepReader(rules, state, change);
}

function stepStream(state: State, change: Change): void {
  ROWS.forEach(({ partition, offset }, bit) => {
    if (offset < state[WATERMARK + partition]!) return;
    if ((state[INSERTED]! & (1 << bit)) === 0) change((s) => (s[INSERTED]! |= 1 << bit));
    else if ((state[MARKED]! & (1 << bit)) === 0) change((s) => (s[MARKED]! |= 1 << bit));
  });
  for (const partition of [0, 1]) {
    for (let to = state[WATERMARK + partition]! + 1; to <= ENDS[partition]!; to++) {
      const allMarked = ROWS.every(
        (row, bit) =>
          row.partition !== partition || row.offset >= to || (state[MARKED]! & (1 << bit)) !== 0,
      );
      if (allMarked) change((s) => (s[WATERMARK + partition] = to));
    }
  }
}

function stepSealer(rules: Rules, state: State, base: number, change: Change): void {
  const [phase, generation] = [state[base]!, state[base + 1]!];
  const vector = vectorAt(state, base + 2);
  const becomes = (s: number[], fields: readonly number[]) => {
    for (let field = 0; field < SEALER_FIELDS; field++) s[base + field] = fields[field] ?? 0;
  };
  if (phase === IDLE) {
    if (state[GENERATION]! < SEALS_MAX)
      change((s) => {
        s[GENERATION]!++;
        becomes(s, [TARGET, s[GENERATION]!]);
      });
    return;
  }
  if (state[CRASHES]! > 0)
    change((s) => {
      s[CRASHES]!--;
      becomes(s, [IDLE]);
    });
  switch (phase) {
    case TARGET: {
      const target = rules.targetIsWatermark ? vectorAt(state, WATERMARK) : beyondMarks(state);
      return change((s) => becomes(s, [READ, generation, ...target]));
    }
    case READ: {
      const value = rules.recomputeBelowTarget
        ? rowsBelow(state[INSERTED]!, vector)
        : state[INSERTED]!;
      change((s) => becomes(s, [WRITE, generation, ...vector, value]));
      // A hot bucket is left out of this cycle.
      return change((s) => becomes(s, [RECORD, generation, ...vector]));
    }
    case WRITE: {
      const seal = [rules.newestGenerationWins ? generation : 0, state[SEAL_COUNT]! + 1];
      const wins =
        seal[0]! > state[BUCKET]! || (seal[0] === state[BUCKET] && seal[1]! >= state[BUCKET + 1]!);
      return change((s) => {
        if (wins) s.splice(BUCKET, BUCKET_FIELDS, ...seal, ...vector, state[base + 4]!);
        becomes(s, [RECORD, generation, ...vector]);
      });
    }
    case RECORD: {
      if (rules.fenced && generation !== state[GENERATION])
        return change((s) => becomes(s, [IDLE]));
      return change((s) => {
        const place = SEALS + s[SEAL_COUNT]! * SEAL_FIELDS;
        s.splice(place, SEAL_FIELDS, rules.newestGenerationWins ? generation : 0, ...vector);
        s[SEAL_COUNT]!++;
        becomes(s, [IDLE]);
      });
    }
  }
}

function beyondMarks(state: State): Vector {
  const beyond: [number, number] = [0, 0];
  ROWS.forEach(({ partition, offset }, bit) => {
    if ((state[MARKED]! & (1 << bit)) !== 0)
      beyond[partition] = Math.max(beyond[partition]!, offset + 1);
  });
  return beyond;
}

function stepReader(rules: Rules, state: State, change: Change): void {
  const become = (s: number[], fields: readonly number[]) => {
    for (let place = READER; place < STATE_FIELDS; place++) s[place] = fields[place - READER] ?? 0;
  };
  switch (state[READER]) {
    case RESTING:
      return change((s) => become(s, [HAS_VECTORS, ...vectorAt(s, WATERMARK), 0, s[SEAL_COUNT]!]));
    case HAS_VECTORS: {
      const known = state[READER + 4]!;
      const sealsSeen = rules.snapshot ? known : state[SEAL_COUNT]!;
      const ok = usable(rules, state, BUCKET, sealsSeen) ? 1 : 0;
      const bucket = state.slice(BUCKET, BUCKET + BUCKET_FIELDS);
      const vector = vectorAt(state, READER + 1);
      return change((s) => become(s, [HAS_DECIDED, ...vector, ok, known, ...bucket]));
    }
    case HAS_DECIDED:
      return change((s) => become(s, [RESTING]));
  }
}

/** The read that has decided now reads the rows: is its answer that of the rows below its vector? */
function answersWrongly(rules: Rules, state: State): boolean {
  if (state[READER] !== HAS_DECIDED) return false;
  const below = vectorAt(state, READER + 1);
  const [ok, known, bucket] = [state[READER + 3] === 1, state[READER + 4]!, READER + 5];
  const value = state[bucket + 4]!;
  const rows = rowsBelow(state[INSERTED]!, below);
  const right = rowsBelow(EVERY_ROW, below);
  if (rules.oneDecision) return (ok ? value : rows) !== right;
  // Bits of both must not merge: a row in both places is counted twice.
  const rowsToo = !usable(rules, state, bucket, known);
  const twice = ok && rowsToo && (value & rows) !== 0;
  return twice || ((ok ? value : 0) | (rowsToo ? rows : 0)) !== right;
}

const run = (rules: Partial<Rules>) => {
  const all = { ...ALL_RULES, ...rules };
  return search({
    start: START,
    next: (state, emit) => next(all, state, emit),
    violates: (state) => answersWrongly(all, state),
  });
};

describe('seals and usage reads, every interleaving', () => {
  test('hold with all rules', () => {
    const { states, violation } = run({});
    expect(violation).toBeNull();
    expect(states).toBe(2_674_834);
  });

  test.each<[string, Partial<Rules>]>([
    ['the target comes from the marks', { targetIsWatermark: false }],
    ['the recompute reads rows beyond its target', { recomputeBelowTarget: false }],
    ['seal numbers lack the generation', { newestGenerationWins: false }],
    ['a bucket counts before its seal is recorded', { recordedFirst: false }],
    ['seals are read after the watermarks', { snapshot: false }],
    ['usable is decided for the buckets and again for the rows', { oneDecision: false }],
  ])('break when %s', (_, rules) => {
    expect(run(rules).violation).not.toBeNull();
  });
});
