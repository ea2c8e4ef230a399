import assert from 'node:assert/strict';
import type { Receiver } from '../platform/outbound/send-notification.ts';
import type { DueDelivery } from '../postgres/tables/webhook-deliveries.ts';

/** A delivery that this process has found, with its receiver. */
export interface HeldDelivery {
  readonly row: DueDelivery;
  readonly receiver: Receiver;
}

/** More deliveries that may be found: for one endpoint, or for all endpoints of one tenant. */
export interface Places {
  readonly id: string;
  readonly places: number;
}

/** Several times the share of one tenant, whose receivers may all fail to answer. */
const IN_FLIGHT_MAX = 512;
export const IN_FLIGHT_PER_TENANT = 64;
export const IN_FLIGHT_PER_ENDPOINT = 32;
export const IN_FLIGHT_PER_FAILING_ENDPOINT = 2;
/** In flight and waiting. */
const HELD_MAX = 1_024;
/** Deliveries that wait for an endpoint or a tenant whose receivers answer fast. */
const STOCK_MAX = 512;
/** A receiver that gets faster is offered more in each round. */
const STOCK_PER_ANSWER = 1.5;

/** An endpoint, or all endpoints of a tenant. */
class Share {
  inFlight = 0;
  waiting = 0;
  /** Since the last look for due deliveries. */
  answered = 0;
  inFlightMax: number;

  constructor(inFlightMax: number) {
    this.inFlightMax = inFlightMax;
  }

  /** Only receivers that answer get a stock: deliveries do not wait here for one that does not. */
  get places(): number {
    const stock = Math.min(STOCK_MAX, Math.ceil(this.answered * STOCK_PER_ANSWER));
    return Math.max(0, this.inFlightMax + stock - this.inFlight - this.waiting);
  }
}

/**
 * The deliveries that a process has found and not finished: waiting for a place, or in flight. Bounded for the
 * process, for each tenant and for each endpoint, so that receivers that do not answer leave places to others.
 */
export class HeldDeliveries {
  readonly #ids = new Set<string>();
  readonly #endpoints = new Map<string, Share>();
  readonly #tenants = new Map<string, Share>();
  /** By tenant, in the order in which they were found. */
  readonly #waiting = new Map<string, HeldDelivery[]>();
  #inFlight = 0;

  get size(): number {
    return this.#ids.size;
  }

  /** What a search for due deliveries may return at most. */
  get room(): {
    readonly limit: number;
    readonly ids: readonly string[];
    readonly endpoints: readonly Places[];
    readonly tenants: readonly Places[];
  } {
    return {
      limit: HELD_MAX - this.size,
      ids: [...this.#ids],
      endpoints: placesOf(this.#endpoints),
      tenants: placesOf(this.#tenants),
    };
  }

  /** Takes what a search has found. Answers are counted anew, and shares that hold nothing are forgotten. */
  add(found: readonly HeldDelivery[]): void {
    for (const shares of [this.#endpoints, this.#tenants])
      for (const [id, share] of shares) {
        share.answered = 0;
        if (share.inFlight + share.waiting === 0) shares.delete(id);
      }
    for (const held of found) {
      const { id, tenant_id, endpoint_id, failing_since } = held.row;
      assert(!this.#ids.has(id));
      this.#ids.add(id);
      const endpoint = shareOf(this.#endpoints, endpoint_id, IN_FLIGHT_PER_ENDPOINT);
      endpoint.inFlightMax =
        failing_since === null ? IN_FLIGHT_PER_ENDPOINT : IN_FLIGHT_PER_FAILING_ENDPOINT;
      endpoint.waiting += 1;
      shareOf(this.#tenants, tenant_id, IN_FLIGHT_PER_TENANT).waiting += 1;
      const waiting = this.#waiting.get(tenant_id) ?? [];
      this.#waiting.set(tenant_id, waiting);
      waiting.push(held);
    }
  }

  /** The deliveries, of one tenant or of all, for which there are places now; they are in flight from now on. */
  begin(tenantId?: string): HeldDelivery[] {
    const tenants = tenantId === undefined ? [...this.#waiting.keys()] : [tenantId];
    return tenants.flatMap((id) => this.#beginOf(id));
  }

  #beginOf(tenantId: string): HeldDelivery[] {
    const waiting = this.#waiting.get(tenantId) ?? [];
    const tenant = this.#tenants.get(tenantId)!;
    const begun: HeldDelivery[] = [];
    for (let at = 0; at < waiting.length;) {
      if (this.#inFlight >= IN_FLIGHT_MAX || tenant.inFlight >= tenant.inFlightMax) break;
      const endpoint = this.#endpoints.get(waiting[at]!.row.endpoint_id)!;
      if (endpoint.inFlight >= endpoint.inFlightMax) {
        at += 1;
        continue;
      }
      for (const share of [endpoint, tenant]) {
        share.waiting -= 1;
        share.inFlight += 1;
      }
      this.#inFlight += 1;
      begun.push(...waiting.splice(at, 1));
    }
    if (waiting.length === 0) this.#waiting.delete(tenantId);
    return begun;
  }

  /** Ends a delivery that is in flight. */
  end({ id, tenant_id, endpoint_id }: DueDelivery): void {
    this.#ids.delete(id);
    this.#inFlight -= 1;
    for (const share of [this.#endpoints.get(endpoint_id)!, this.#tenants.get(tenant_id)!]) {
      share.inFlight -= 1;
      share.answered += 1;
    }
  }

  /** Gives up what waits: it is still due. What is known about an endpoint must not grow old here. */
  release(isReleased: (held: HeldDelivery) => boolean): void {
    for (const [tenantId, waiting] of this.#waiting) {
      const kept = waiting.filter((held) => !isReleased(held));
      for (const { row } of waiting.filter(isReleased)) {
        this.#ids.delete(row.id);
        this.#endpoints.get(row.endpoint_id)!.waiting -= 1;
        this.#tenants.get(tenantId)!.waiting -= 1;
      }
      if (kept.length === 0) this.#waiting.delete(tenantId);
      else this.#waiting.set(tenantId, kept);
    }
  }
}

const placesOf = (shares: ReadonlyMap<string, Share>): Places[] =>
  [...shares].map(([id, { places }]) => ({ id, places }));

function shareOf(shares: Map<string, Share>, id: string, inFlightMax: number): Share {
  const share = shares.get(id) ?? new Share(inFlightMax);
  shares.set(id, share);
  return share;
}
