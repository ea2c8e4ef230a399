import { setTimeout as sleep } from 'node:timers/promises';
import type { BillingDeps } from '../api/deps.ts';
import { openSecrets } from '../api/operations/webhooks/endpoints.ts';
import { FAILING_MS_MAX, nextAttemptMs } from '../domain/webhooks/retry-schedule.ts';
import { isoTime } from '../platform/clock.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { Outbound } from '../platform/outbound/guarded-request.ts';
import { sendNotification, type Attempt } from '../platform/outbound/send-notification.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import {
  disableEndpoint,
  dispatchNotifications,
  findDueDeliveries,
  noteAttempts,
  noteEndpointHealth,
  type AttemptedDelivery,
  type DueDelivery,
} from '../postgres/tables/webhook-deliveries.ts';
import type { Job, JobRun } from './job.ts';

export type DeliverWebhooksDeps = BillingDeps & { readonly outbound: Outbound };

const DISPATCH_PAGE = 1_000;
/** Several times the share of one tenant, whose receivers may all fail to answer. */
const IN_FLIGHT_MAX = 512;
const IN_FLIGHT_PER_TENANT = 64;
const IN_FLIGHT_PER_ENDPOINT = 32;
const IN_FLIGHT_PER_FAILING_ENDPOINT = 2;
/** Outcomes are written together after this time. */
const WRITE_MS = 20;
/** The wait while only answers of slow receivers are outstanding. */
const QUIET_MS = 200;

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
  readonly #inFlight = new Map<string, DueDelivery>();
  #done: AttemptedDelivery[] = [];
  readonly #report = { dispatched: 0, delivered: 0, failed: 0, exhausted: 0, disabled: 0 };

  constructor(deps: DeliverWebhooksDeps, run: JobRun) {
    this.#deps = deps;
    this.#run = run;
  }

  async untilIdle(): Promise<Readonly<Record<string, number>>> {
    for (;;) {
      const hasEnded = this.#run.signal.aborted;
      const dispatched = hasEnded ? 0 : await this.#dispatch();
      const started = hasEnded ? 0 : await this.#start();
      const written = await this.#write();
      // An outcome may make the next event of its object due.
      const isIdle = dispatched + started + written + this.#inFlight.size === 0;
      if (isIdle && this.#done.length === 0) return this.#report;
      await sleep(dispatched + started + written === 0 ? QUIET_MS : WRITE_MS);
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

  /** Starts due deliveries while places are free. */
  async #start(): Promise<number> {
    const free = IN_FLIGHT_MAX - this.#inFlight.size;
    if (free === 0) return 0;
    const inFlight = [...this.#inFlight.values()];
    const endpoints = countBy(inFlight, ({ endpoint_id }) => endpoint_id);
    const tenants = countBy(inFlight, ({ tenant_id }) => tenant_id);
    const failing = new Set(
      inFlight.flatMap((row) => (row.failing_since === null ? [] : row.endpoint_id)),
    );
    const placesOf = (id: string): number =>
      failing.has(id) ? IN_FLIGHT_PER_FAILING_ENDPOINT : IN_FLIGHT_PER_ENDPOINT;
    const due = await findDueDeliveries(this.#deps.pool, {
      at: this.#now(),
      limit: free,
      perEndpoint: IN_FLIGHT_PER_ENDPOINT,
      perFailingEndpoint: IN_FLIGHT_PER_FAILING_ENDPOINT,
      without: {
        ids: [...this.#inFlight.keys(), ...this.#done.map(({ delivery }) => delivery.id)],
        endpoints: [...endpoints].flatMap(([id, count]) => (count >= placesOf(id) ? id : [])),
        tenants: [...tenants].flatMap(([id, count]) => (count >= IN_FLIGHT_PER_TENANT ? id : [])),
      },
    });
    let started = 0;
    for (const delivery of due) {
      const { endpoint_id, tenant_id, failing_since } = delivery;
      const places =
        failing_since === null ? IN_FLIGHT_PER_ENDPOINT : IN_FLIGHT_PER_FAILING_ENDPOINT;
      const ofEndpoint = endpoints.get(endpoint_id) ?? 0;
      const ofTenant = tenants.get(tenant_id) ?? 0;
      if (ofEndpoint >= places || ofTenant >= IN_FLIGHT_PER_TENANT) continue;
      endpoints.set(endpoint_id, ofEndpoint + 1);
      tenants.set(tenant_id, ofTenant + 1);
      this.#inFlight.set(delivery.id, delivery);
      started += 1;
      void this.#send(delivery);
    }
    return started;
  }

  async #send(delivery: DueDelivery): Promise<void> {
    const { url, environment_type } = delivery;
    const isProduction = environment_type === 'production';
    const allowedHosts = this.#deps.settings.outbound_allowed_hosts;
    const attempt = await sendNotification(this.#deps, delivery, {
      url,
      secrets: openSecrets(this.#deps, delivery),
      rules: { isProduction, allowedHosts },
    });
    this.#inFlight.delete(delivery.id);
    this.#done.push(this.#outcomeOf(delivery, attempt));
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
    failpoint('jobs.deliver_webhooks.before_commit');
    const disabled = await this.#deps.pool.begin(async (tx) => {
      await holdJobLease(tx, this.#run.lease);
      await noteAttempts(tx, done, at);
      await noteEndpointHealth(tx, healthOf(done), at);
      let count = 0;
      for (const [id, reason] of endpointsToDisable(done, at))
        if (await disableEndpoint(tx, id, reason, at)) count += 1;
      return count;
    });
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

function countBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}
