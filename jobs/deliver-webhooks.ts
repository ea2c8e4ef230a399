import { setTimeout as sleep } from 'node:timers/promises';
import type { BillingDeps } from '../api/deps.ts';
import { openSecrets } from '../api/operations/webhooks/endpoints.ts';
import { FAILING_MS_MAX, nextAttemptMs } from '../domain/webhooks/retry-schedule.ts';
import { isoTime } from '../platform/clock.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { Outbound } from '../platform/outbound/guarded-request.ts';
import {
  sendNotification,
  type Attempt,
  type Receiver,
} from '../platform/outbound/send-notification.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import {
  dispatchNotifications,
  findDueDeliveries,
  noteAttempts,
  type AttemptedDelivery,
  type DueDelivery,
} from '../postgres/tables/webhook-deliveries.ts';
import { disableEndpoint, noteEndpointHealth } from '../postgres/tables/webhook-endpoint-health.ts';
import {
  HeldDeliveries,
  IN_FLIGHT_PER_ENDPOINT,
  IN_FLIGHT_PER_FAILING_ENDPOINT,
  IN_FLIGHT_PER_TENANT,
  type HeldDelivery,
} from './held-deliveries.ts';
import type { Job, JobRun } from './job.ts';

export type DeliverWebhooksDeps = BillingDeps & { readonly outbound: Outbound };

const DISPATCH_PAGE = 1_000;
/** Outcomes are written together after this time, or when there are that many. */
const WRITE_MS = 20;
const WRITE_PAGE = 64;
/** The wait while only answers of slow receivers are outstanding. */
const QUIET_MS = 200;
/** A delivery waits so long for a place; then it is searched again, with its endpoint as it is by then. */
const WAITING_MS_MAX = 1_000;

/**
 * Sends notifications to webhook endpoints (money 17.2). Creates the deliveries of new notifications, sends
 * due deliveries and writes the outcomes, until none is due. If the process is killed between a request and
 * the storage of its outcome, the notification is sent again with the same `webhook-id`. Runs on the process
 * clock.
 */
export const deliverWebhooks: Job<DeliverWebhooksDeps> = {
  name: 'deliver-webhooks',
  cron: '* * * * * *',
  run: (deps, run) => new Delivery(deps, run).untilIdle(),
};

class Delivery {
  readonly #deps: DeliverWebhooksDeps;
  readonly #run: JobRun;
  readonly #held = new HeldDeliveries();
  readonly #foundAt = new WeakMap<HeldDelivery, number>();
  #done: AttemptedDelivery[] = [];
  readonly #report = { dispatched: 0, delivered: 0, failed: 0, exhausted: 0, disabled: 0 };

  constructor(deps: DeliverWebhooksDeps, run: JobRun) {
    this.#deps = deps;
    this.#run = run;
  }

  /** Requests go on while statements run: a step of the loop waits for no receiver. */
  async untilIdle(): Promise<Readonly<Record<string, number>>> {
    for (;;) {
      const hasEnded = this.#run.signal.aborted;
      if (hasEnded) this.#held.release(() => true);
      const dispatched = hasEnded ? 0 : await this.#dispatch();
      const found = hasEnded ? 0 : await this.#find();
      const written = await this.#write();
      // An outcome may make the next event of its object due.
      const isIdle = dispatched + found + written + this.#held.size === 0;
      if (isIdle && this.#done.length === 0) return this.#report;
      if (dispatched + found + written === 0) await sleep(QUIET_MS);
      else if (Math.max(dispatched, found, written) < WRITE_PAGE) await sleep(WRITE_MS);
    }
  }

  async #dispatch(): Promise<number> {
    const page = { at: this.#now(), limit: DISPATCH_PAGE };
    const dispatched = await this.#deps.pool.begin(async (tx) => {
      await holdJobLease(tx, this.#run.lease);
      return await dispatchNotifications(tx, page);
    });
    this.#report.dispatched += dispatched;
    return dispatched;
  }

  /** Finds due deliveries and begins them while places are free. */
  async #find(): Promise<number> {
    const atMs = performance.now();
    this.#held.release((held) => atMs - this.#foundAt.get(held)! > WAITING_MS_MAX);
    const { limit, ids, endpoints, tenants } = this.#held.room;
    const found =
      limit === 0
        ? []
        : await findDueDeliveries(this.#deps.pool, {
            at: this.#now(),
            limit,
            without: [...ids, ...this.#done.map(({ delivery }) => delivery.id)],
            perEndpoint: IN_FLIGHT_PER_ENDPOINT,
            perFailingEndpoint: IN_FLIGHT_PER_FAILING_ENDPOINT,
            perTenant: IN_FLIGHT_PER_TENANT,
            endpoints,
            tenants,
          });
    const receivers = new Map<string, Receiver>();
    const held = found.map((row) => {
      const receiver = receivers.get(row.endpoint_id) ?? this.#receiverOf(row);
      receivers.set(row.endpoint_id, receiver);
      return { row, receiver };
    });
    for (const one of held) this.#foundAt.set(one, atMs);
    this.#held.add(held);
    this.#begin();
    return found.length;
  }

  #receiverOf(row: DueDelivery): Receiver {
    const isProduction = row.environment_type === 'production';
    const allowedHosts = this.#deps.settings.outbound_allowed_hosts;
    return {
      url: row.url,
      secrets: openSecrets(this.#deps, row),
      rules: { isProduction, allowedHosts },
    };
  }

  /** The end of a delivery makes place for the next of the same tenant. */
  #begin(tenantId?: string): void {
    for (const { row, receiver } of this.#held.begin(tenantId))
      void sendNotification(this.#deps, row, receiver).then((attempt) => {
        this.#held.end(row);
        this.#done.push(this.#outcomeOf(row, attempt));
        this.#begin(row.tenant_id);
      });
  }

  #outcomeOf(delivery: DueDelivery, attempt: Attempt): AttemptedDelivery {
    const row = { ...attempt, id: this.#deps.ids.next('whatt') };
    if (attempt.error === null)
      return { delivery, outcome: 'delivered', due_at: null, attempt: row };
    const attempts = delivery.attempts + 1;
    const wait = nextAttemptMs(attempts, spreadOf(delivery.id, attempts), retryAfterMs(attempt));
    return wait === null
      ? { delivery, outcome: 'exhausted', due_at: null, attempt: row }
      : {
          delivery,
          outcome: 'pending',
          due_at: isoTime(this.#deps.clock.now() + wait),
          attempt: row,
        };
  }

  async #write(): Promise<number> {
    if (this.#done.length === 0) return 0;
    const done = [...this.#done];
    const at = this.#now();
    const toDisable = endpointsToDisable(done, at);
    failpoint('jobs.deliver_webhooks.before_commit');
    const disabled = await this.#deps.pool.begin(async (tx) => {
      await holdJobLease(tx, this.#run.lease);
      await noteAttempts(tx, done, at);
      await noteEndpointHealth(tx, healthOf(done), at);
      let count = 0;
      for (const [id, reason] of toDisable)
        if (await disableEndpoint(tx, id, reason, at)) count += 1;
      return count;
    });
    this.#held.release(({ row }) => toDisable.has(row.endpoint_id));
    this.#done = this.#done.slice(done.length);
    this.#report.disabled += disabled;
    for (const { outcome } of done) this.#report[outcome === 'pending' ? 'failed' : outcome] += 1;
    return done.length;
  }

  readonly #now = (): string => isoTime(this.#deps.clock.now());
}

/** An endpoint with a success among the attempts is healthy; the last attempt decides for the others. */
function healthOf(done: readonly AttemptedDelivery[]): { id: string; isHealthy: boolean }[] {
  const healthy = new Map<string, boolean>();
  for (const { delivery, outcome } of done) {
    const wasHealthy = healthy.get(delivery.endpoint_id) ?? false;
    healthy.set(delivery.endpoint_id, wasHealthy || outcome === 'delivered');
  }
  return [...healthy].map(([id, isHealthy]) => ({ id, isHealthy }));
}

/** Endpoints that answered 410, or that have failed for five days, with the reason. */
function endpointsToDisable(
  done: readonly AttemptedDelivery[],
  at: string,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const { delivery, attempt } of done) {
    const { endpoint_id, failing_since } = delivery;
    if (attempt.status_code === 410) reasons.set(endpoint_id, 'The receiver answered 410 Gone.');
    else if (
      attempt.error !== null &&
      failing_since !== null &&
      Date.parse(at) - Date.parse(failing_since) >= FAILING_MS_MAX
    )
      reasons.set(endpoint_id, `Every attempt has failed since ${failing_since}.`);
  }
  return reasons;
}

/** Milliseconds of `Retry-After` in the answer of a busy receiver (429, 503); null without the header. */
function retryAfterMs({ status_code, response_headers }: Attempt): number | null {
  if (status_code !== 429 && status_code !== 503) return null;
  const seconds = Number(response_headers?.['retry-after'] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}

/** A number in [0, 1) that depends on the delivery and the attempt only. */
function spreadOf(id: string, attempts: number): number {
  let hash = attempts;
  for (const character of id) hash = (hash * 31 + character.codePointAt(0)!) % 1_000_003;
  return hash / 1_000_003;
}
