import type { Random } from '../random.ts';

/**
 * The harness's own record of sent and acknowledged events, and the totals derived from it. It shares
 * no code with the product: integers in thousandths, one canonical copy per id.
 */
export interface SentEvent {
  readonly event_id: string;
  readonly external_customer_id: string;
  /** Milliseconds since 1970, unique within a customer, so that LATEST has no ties. */
  readonly timestamp: number;
  /** Thousandths; written as decimal text with three places. */
  readonly value: number;
  readonly user: string;
}

export interface Totals {
  count: number;
  sum: bigint;
  max: number;
  users: Set<string>;
  latest: { timestamp: number; value: number };
  /** Sum by UTC day, and count by hour: the start of the window in milliseconds. */
  days: Map<number, bigint>;
  hours: Map<number, number>;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export class Ledger {
  /** Acknowledged with 202 at least once: must be counted, exactly once. */
  readonly acknowledged = new Map<string, SentEvent>();
  /** Sent without a clear answer: counted or not until a retry is acknowledged. */
  readonly unknown = new Map<string, SentEvent>();
  /** Ids that a correction takes back: stored once like all others, and in no total. */
  readonly voided = new Set<string>();
  duplicates = 0;
  readonly #ids: string[] = [];

  sent(events: readonly SentEvent[]): void {
    for (const event of events)
      if (!this.acknowledged.has(event.event_id)) this.unknown.set(event.event_id, event);
  }

  acked(events: readonly SentEvent[]): void {
    for (const event of events) {
      if (this.acknowledged.has(event.event_id)) continue; // a duplicate: the first copy counts
      this.acknowledged.set(event.event_id, this.unknown.get(event.event_id) ?? event);
      this.unknown.delete(event.event_id);
      this.#ids.push(event.event_id);
    }
  }

  /** A random acknowledged event that is not voided; undefined before there is one. */
  pick(random: Random): SentEvent | undefined {
    for (let tries = 0; tries < 100 && this.#ids.length > 0; tries += 1) {
      const id = random.pick(this.#ids);
      if (!this.voided.has(id)) return this.acknowledged.get(id);
    }
    return undefined;
  }

  /** Totals per customer over the acknowledged events that are not voided. */
  totals(): Map<string, Totals> {
    const totals = new Map<string, Totals>();
    for (const event of this.acknowledged.values()) {
      if (this.voided.has(event.event_id)) continue;
      const entry = totals.get(event.external_customer_id) ?? {
        count: 0,
        sum: 0n,
        max: Number.NEGATIVE_INFINITY,
        users: new Set<string>(),
        latest: { timestamp: -1, value: 0 },
        days: new Map<number, bigint>(),
        hours: new Map<number, number>(),
      };
      const { timestamp, value } = event;
      entry.count += 1;
      entry.sum += BigInt(value);
      entry.max = Math.max(entry.max, value);
      entry.users.add(event.user);
      if (timestamp > entry.latest.timestamp) entry.latest = event;
      const day = timestamp - (timestamp % DAY_MS);
      entry.days.set(day, (entry.days.get(day) ?? 0n) + BigInt(value));
      const hour = timestamp - (timestamp % HOUR_MS);
      entry.hours.set(hour, (entry.hours.get(hour) ?? 0) + 1);
      totals.set(event.external_customer_id, entry);
    }
    return totals;
  }
}

/** Thousandths as decimal text: -1500 → "-1.500". */
export function thousandths(value: number | bigint): string {
  const whole = BigInt(value);
  const digits = (whole < 0n ? -whole : whole).toString().padStart(4, '0');
  return `${whole < 0n ? '-' : ''}${digits.slice(0, -3)}.${digits.slice(-3)}`;
}
