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
}

export class Ledger {
  /** Acknowledged with 202 at least once: must be counted, exactly once. */
  readonly acknowledged = new Map<string, SentEvent>();
  /** Sent without a clear answer: counted or not until a retry is acknowledged. */
  readonly unknown = new Map<string, SentEvent>();
  duplicates = 0;

  sent(events: readonly SentEvent[]): void {
    for (const event of events)
      if (!this.acknowledged.has(event.event_id)) this.unknown.set(event.event_id, event);
  }

  acked(events: readonly SentEvent[]): void {
    for (const event of events) {
      if (this.acknowledged.has(event.event_id)) continue; // a duplicate: the first copy counts
      this.acknowledged.set(event.event_id, this.unknown.get(event.event_id) ?? event);
      this.unknown.delete(event.event_id);
    }
  }

  /** Totals per customer over the acknowledged events. */
  totals(): Map<string, Totals> {
    const totals = new Map<string, Totals>();
    for (const event of this.acknowledged.values()) {
      const entry = totals.get(event.external_customer_id) ?? {
        count: 0,
        sum: 0n,
        max: Number.NEGATIVE_INFINITY,
        users: new Set<string>(),
        latest: { timestamp: -1, value: 0 },
      };
      entry.count += 1;
      entry.sum += BigInt(event.value);
      entry.max = Math.max(entry.max, event.value);
      entry.users.add(event.user);
      if (event.timestamp > entry.latest.timestamp) entry.latest = event;
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
