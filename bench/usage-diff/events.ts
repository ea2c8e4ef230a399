import { seededRandom } from '../random.ts';

const START_MS = Date.parse('2026-11-01T00:00:00Z');
const END_MS = Date.parse('2026-12-01T00:00:00Z');
/** Events have times in the first twenty days, before the start of the run. */
const SPAN_MS = 20 * 86_400_000;
const LATE_MS = 3 * 86_400_000;

/**
 * Events whose fields all derive from their number and copy, so a million of them need three arrays.
 * Times are distinct, so the latest of two events is always defined.
 */
export class DiffEvents {
  readonly count: number;
  readonly duplicates: number;
  readonly late: number;
  readonly start = new Date(START_MS).toISOString();
  readonly end = new Date(END_MS).toISOString();
  /** In sending order: the event number times two, plus 1 for the second copy. */
  readonly #order: Uint32Array;
  readonly #customers: number;
  readonly #step: number;

  constructor(count: number, customers: number, seed: number) {
    const random = seededRandom(seed);
    this.count = count;
    this.#customers = customers;
    this.#step = Math.floor((SPAN_MS - LATE_MS) / count);
    this.duplicates = Math.floor(count / 10);
    this.late = Math.floor(count / 20);
    if (this.#step < 4) throw new Error(`${count} events have no distinct times`);
    this.#order = new Uint32Array(count + this.duplicates);
    for (let number = 0; number < count; number += 1) this.#order[number] = number * 2;
    for (let copy = 0; copy < this.duplicates; copy += 1)
      this.#order[count + copy] = random.integer(0, count - 1) * 2 + 1;
    for (let place = this.#order.length - 1; place > 0; place -= 1) {
      const other = random.integer(0, place);
      [this.#order[place], this.#order[other]] = [this.#order[other]!, this.#order[place]!];
    }
  }

  get sent(): number {
    return this.#order.length;
  }

  customerOf(customer: number): string {
    return `diff-${customer}`;
  }

  /** The event at an index of the sending order. */
  at(place: number) {
    const code = this.#order[place]!;
    const number = code >>> 1;
    const copy = code & 1;
    const mixed = mix(code);
    // Every twentieth event is days older than its neighbours; an odd millisecond keeps its time distinct.
    const late = number % 20 === 7 ? -LATE_MS + 1 : 0;
    return {
      number,
      customer: mix(number) % this.#customers,
      timestamp: START_MS + LATE_MS + number * this.#step + copy * 2 + late,
      /** In hundredths. */
      value: mixed % 1_000_000,
      tier: mixed % 3 === 0 ? 'pro' : 'free',
      user: `u${(mixed >>> 8) % 997}`,
    };
  }

  body(place: number): object {
    const { number, customer, timestamp, value, tier, user } = this.at(place);
    return {
      event_id: `diff-${number}`,
      event_name: 'diff',
      external_customer_id: this.customerOf(customer),
      timestamp: new Date(timestamp).toISOString(),
      properties: { v: hundredths(BigInt(value)), tier, user },
    };
  }
}

/** Decimal text of each figure of one customer. */
export type ExpectedUsage = Readonly<
  Record<'count' | 'sum' | 'pro' | 'daily' | 'users' | 'latest' | 'average', string>
>;

/**
 * The recount: plain integers over the sent events; each id counts once, by its first copy. It does not
 * know meters, windows or positions.
 */
export function expectedUsage(events: DiffEvents): ExpectedUsage[] {
  const seen = new Uint8Array(events.count);
  const tallies = new Map<number, Tally>();
  for (let place = 0; place < events.sent; place += 1) {
    const event = events.at(place);
    if (seen[event.number] === 1) continue;
    seen[event.number] = 1;
    let tally = tallies.get(event.customer);
    if (tally === undefined) tallies.set(event.customer, (tally = new Tally()));
    tally.add(event);
  }
  return [...tallies].sort(([left], [right]) => left - right).map(([, tally]) => tally.answer());
}

class Tally {
  #count = 0n;
  #sum = 0n;
  #pro = 0n;
  #latest = 0n;
  #latestAt = -1;
  readonly #days = new Map<number, number>();
  readonly #users = new Set<string>();

  add({ timestamp, value, tier, user }: ReturnType<DiffEvents['at']>): void {
    this.#count += 1n;
    this.#sum += BigInt(value);
    if (tier === 'pro') this.#pro += BigInt(value);
    if (timestamp > this.#latestAt) {
      this.#latestAt = timestamp;
      this.#latest = BigInt(value);
    }
    const day = Math.floor(timestamp / 86_400_000);
    this.#days.set(day, Math.max(this.#days.get(day) ?? -Infinity, value));
    this.#users.add(user);
  }

  answer(): ExpectedUsage {
    return {
      count: String(this.#count),
      sum: hundredths(this.#sum),
      pro: hundredths(this.#pro),
      daily: hundredths([...this.#days.values()].reduce((sum, peak) => sum + BigInt(peak), 0n)),
      users: String(this.#users.size),
      latest: hundredths(this.#latest),
      average: scaled((this.#sum * 10n ** 16n * 2n + this.#count) / (this.#count * 2n), 18),
    };
  }
}

const hundredths = (value: bigint): string => scaled(value, 2);

function scaled(value: bigint, decimals: number): string {
  const sign = value < 0n ? '-' : '';
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, '0');
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** A fixed scramble of 32 bits, never negative. */
function mix(code: number): number {
  let value = Math.imul(code ^ 0x9e3779b9, 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
