import { decide } from '../../domain/metering/decide.ts';
import { packPosition, type Position } from '../../domain/metering/position.ts';
import { search, type State } from './search.ts';

/**
 * Exhaustive check of the stream protocol for one partition (metering 4): every interleaving of two
 * consumers, crashes, takeovers that leave a zombie behind, a meter version created at any moment, and
 * its backfill. At rest, the usage of every version must be the smallest position of each id.
 * Switching a rule off shows that it is needed.
 */
interface Rules {
  /** Progress is refused to all but the newest generation. */
  readonly fenced: boolean;
  /** A partition is never evaluated with an older catalog than before. */
  readonly catalogRule: boolean;
  /** Canonical is the smallest position, not "not seen before". */
  readonly smallestPosition: boolean;
  /** Raw copies, decision, index, usage, progress: the order of a batch's steps. */
  readonly order: readonly Step[];
}
type Step = 'raw' | 'decide' | 'index' | 'usage' | 'progress';

const ALL_RULES: Rules = {
  fenced: true,
  catalogRule: true,
  smallestPosition: true,
  order: ['raw', 'decide', 'index', 'usage', 'progress'],
};

/** The log: records with the ids of their events. A set of events is one bit each, in log order. */
const LOG = [['a'], ['a', 'b'], ['b']];
const EVENTS = LOG.flatMap((ids, offset) => ids.map((id, index) => ({ id, offset, index })));
const END = LOG.length;
const position = (event: number): Position =>
  packPosition(0, BigInt(EVENTS[event]!.offset), EVENTS[event]!.index);
const eventsWhere = (holds: (event: (typeof EVENTS)[number], bit: number) => boolean): number =>
  EVENTS.reduce((set, event, bit) => (holds(event, bit) ? set | (1 << bit) : set), 0);
const firstOf = (events: number, id: string): number =>
  EVENTS.findIndex((event, bit) => event.id === id && (events & (1 << bit)) !== 0);
const smallestOfEach = (events: number): number =>
  eventsWhere((event, bit) => firstOf(events, event.id) === bit);
const CANONICAL = smallestOfEach(eventsWhere(() => true));
const isSubset = (set: number, of: number): boolean => (set & ~of) === 0;

// Places in a state. `liveFrom` and `canonical` are 0 while unset and one more than their value after.
const [RAW, INDEX, USAGE_1, USAGE_2, OFFSET, GENERATION, CATALOG, LIVE_FROM] = [
  0, 1, 2, 3, 4, 5, 6, 7,
];
const [CREATED, BACKFILL, CRASHES, TAKEOVERS, CONSUMERS] = [8, 9, 10, 11, 12];
const [PHASE, MY_GENERATION, AT, UNTIL, MY_CATALOG, STEP, MY_CANONICAL] = [0, 1, 2, 3, 4, 5, 6];
const FIELDS = 7;
const [IDLE, RUNNING, IN_BATCH] = [0, 1, 2];
const [NOT_BEGUN, REPLAYING, DONE] = [0, 1, 2];

const START: State = [...[0, 0, 0, 0], ...[0, 0, 1, 0], ...[0, NOT_BEGUN, 2, 2]].concat(
  new Array<number>(2 * FIELDS).fill(0),
);

function next(rules: Rules, state: State, emit: (state: number[]) => void): void {
  const change = (edit: (next: number[]) => void): void => {
    const copy = state.slice();
    edit(copy);
    emit(copy);
  };
  if (state[CREATED] === 0) change((s) => (s[CREATED] = 1));
  for (const base of [CONSUMERS, CONSUMERS + FIELDS]) stepConsumer(rules, state, base, change);
  if (state[BACKFILL] === NOT_BEGUN && state[CREATED] === 1 && state[LIVE_FROM] !== 0)
    change((s) => (s[BACKFILL] = REPLAYING));
  if (state[BACKFILL] === REPLAYING)
    change((s) => {
      const below = eventsWhere((event) => event.offset < s[LIVE_FROM]! - 1);
      s[USAGE_2]! |= smallestOfEach(s[RAW]!) & below;
      s[BACKFILL] = DONE;
    });
}

type Change = (edit: (next: number[]) => void) => void;

function stepConsumer(rules: Rules, state: State, base: number, change: Change): void {
  const phase = state[base + PHASE]!;
  const other = base === CONSUMERS ? CONSUMERS + FIELDS : CONSUMERS;
  if (phase === IDLE) return assign(rules, state, base, state[other + PHASE] === IDLE, change);
  if (state[CRASHES]! > 0)
    change((s) => {
      s[CRASHES]!--;
      becomes(s, base, [IDLE, 0, 0, 0, 0, 0, 0]);
    });
  if (phase === IN_BATCH) return stepBatch(rules, state, base, change);

  const [, generation, at, , catalog] = state.slice(base, base + FIELDS) as number[];
  if (catalog === 1 && state[CREATED] === 1) change((s) => (s[base + MY_CATALOG] = 2));
  for (let until = at! + 1; until <= END; until++)
    change((s) => becomes(s, base, [IN_BATCH, generation!, at!, until, catalog!, 0, 0]));
  const owns = !rules.fenced || generation === state[GENERATION];
  // An idle partition records from where it evaluates version 2, without waiting for a batch.
  if (catalog === 2 && state[LIVE_FROM] === 0 && owns)
    change((s) => {
      s[CATALOG] = 2;
      s[LIVE_FROM] = at! + 1;
    });
}

/** While another consumer believes it owns the partition, taking it leaves a zombie behind. */
function assign(rules: Rules, state: State, base: number, free: boolean, change: Change): void {
  if (!free && state[TAKEOVERS] === 0) return;
  const refresh = (catalog: number) =>
    rules.catalogRule && catalog < state[CATALOG]! ? 2 : catalog;
  for (const cached of state[CREATED] === 1 ? [1, 2] : [1])
    change((s) => {
      if (!free) s[TAKEOVERS]!--;
      s[GENERATION]!++;
      becomes(s, base, [RUNNING, s[GENERATION]!, s[OFFSET]!, 0, refresh(cached), 0, 0]);
    });
}

function stepBatch(rules: Rules, state: State, base: number, change: Change): void {
  const [, generation, at, until, catalog, step, canonical] = state.slice(
    base,
    base + FIELDS,
  ) as number[];
  const batch = eventsWhere((event) => event.offset >= at! && event.offset < until!);
  const write = (edit: (s: number[]) => void) =>
    change((s) => {
      edit(s);
      if (step === rules.order.length - 1)
        becomes(s, base, [RUNNING, generation!, until!, 0, catalog!, 0, 0]);
      else s[base + STEP]!++;
    });
  switch (rules.order[step!]) {
    case 'raw':
      return write((s) => (s[RAW]! |= batch));
    case 'decide':
      return write((s) => (s[base + MY_CANONICAL] = 1 + canonicalOf(rules, batch, s[INDEX]!)));
    case 'index':
      return write((s) => (s[INDEX]! |= batch));
    case 'usage':
      return write((s) => {
        s[USAGE_1]! |= canonical! - 1;
        if (catalog === 2) s[USAGE_2]! |= canonical! - 1;
      });
    case 'progress':
      if (rules.fenced && generation !== state[GENERATION])
        return change((s) => becomes(s, base, [IDLE, 0, 0, 0, 0, 0, 0]));
      return change((s) => {
        s[OFFSET] = until!;
        s[CATALOG] = rules.catalogRule ? Math.max(s[CATALOG]!, catalog!) : catalog!;
        if (catalog === 2 && s[LIVE_FROM] === 0) s[LIVE_FROM] = at! + 1;
        if (step === rules.order.length - 1)
          becomes(s, base, [RUNNING, generation!, until!, 0, catalog!, 0, 0]);
        else s[base + STEP]!++;
      });
  }
}

function becomes(state: number[], base: number, consumer: readonly number[]): void {
  for (let field = 0; field < FIELDS; field++) state[base + field] = consumer[field]!;
}

const decided = new Map<string, number>();

/** The production rule, or "seen before" in its place. Few inputs come up millions of times. */
function canonicalOf(rules: Rules, batch: number, index: number): number {
  const key = `${rules.smallestPosition} ${batch} ${index}`;
  const known = decided.get(key);
  if (known !== undefined) return known;
  const copies = EVENTS.flatMap((_, bit) => ((batch & (1 << bit)) === 0 ? [] : [bit]));
  const ids = copies.map((bit) => EVENTS[bit]!.id);
  const indexed = new Map<string, Position>();
  for (const id of ids) {
    const first = firstOf(index, id);
    if (first >= 0) indexed.set(id, position(first));
  }
  const isOnlyCopySeen = (copy: number) => {
    const others = EVENTS.some(
      (event, bit) => event.id === ids[copy] && bit !== copies[copy] && (index & (1 << bit)) !== 0,
    );
    return !others && ids.indexOf(ids[copy]!) === copy;
  };
  const verdicts = rules.smallestPosition
    ? decide(ids, (copy) => position(copies[copy]!), indexed)
    : ids.map((_, copy) => isOnlyCopySeen(copy));
  const canonical = copies.reduce((set, bit, copy) => (verdicts[copy] ? set | (1 << bit) : set), 0);
  decided.set(key, canonical);
  return canonical;
}

function violates(state: State): boolean {
  const usage1 = state[USAGE_1]!;
  const usage2 = state[USAGE_2]!;
  if (!isSubset(usage1, CANONICAL) || !isSubset(usage2, CANONICAL)) return true;
  const atRest =
    state[OFFSET] === END &&
    state[BACKFILL] === DONE &&
    [CONSUMERS, CONSUMERS + FIELDS].every(
      (base) =>
        state[base + PHASE] === IDLE ||
        (state[base + PHASE] === RUNNING && state[base + AT] === END),
    );
  return atRest && (usage1 !== CANONICAL || usage2 !== CANONICAL);
}

const run = (rules: Partial<Rules>, start: State = START) => {
  const all = { ...ALL_RULES, ...rules };
  return search({ start, next: (state, emit) => next(all, state, emit), violates });
};

describe('stream protocol, every interleaving', () => {
  test('holds with all rules: 2 crashes, 2 takeovers', () => {
    const { states, violation } = run({});
    expect(violation).toBeNull();
    expect(states).toBe(1_638_942);
  });

  test.each<[string, Partial<Rules>]>([
    ['progress is not fenced', { fenced: false }],
    ['the catalog may go backwards', { catalogRule: false }],
    ['"seen before" in place of the smallest position', { smallestPosition: false }],
    [
      'the index is written before the decision, with "seen before"',
      {
        smallestPosition: false,
        order: ['raw', 'index', 'decide', 'usage', 'progress'],
      },
    ],
    [
      'progress moves before the usage is written',
      {
        order: ['raw', 'decide', 'index', 'progress', 'usage'],
      },
    ],
    [
      'progress moves before the index is written',
      {
        order: ['raw', 'decide', 'usage', 'progress', 'index'],
      },
    ],
    [
      'progress moves before the raw copies are written',
      {
        order: ['decide', 'index', 'usage', 'progress', 'raw'],
      },
    ],
  ])('breaks when %s', (_, rules) => {
    expect(run(rules).violation).not.toBeNull();
  });

  test.each<[string, Step[]]>([
    ['usage before index', ['raw', 'decide', 'usage', 'index', 'progress']],
    ['index before decision', ['raw', 'index', 'decide', 'usage', 'progress']],
  ])('needs no order between the writes: %s (one crash, one takeover)', (_, order) => {
    const start = START.slice();
    start[CRASHES] = 1;
    start[TAKEOVERS] = 1;
    expect(run({ order }, start).violation).toBeNull();
  });
});
