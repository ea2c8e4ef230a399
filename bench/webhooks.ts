import { randomBytes } from 'node:crypto';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEndpoint } from '../api/operations/webhooks/endpoints.ts';
import { deliverWebhooks, type DeliverWebhooksDeps } from '../jobs/deliver-webhooks.ts';
import { runJob } from '../jobs/run-job.ts';
import { createOutbound } from '../platform/outbound/guarded-request.ts';
import { sendNotification } from '../platform/outbound/send-notification.ts';
import { newWebhookSecret } from '../platform/outbound/standard-webhook.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { writeOutboxEvents, type OutboxPayload } from '../postgres/tables/outbox.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import { cpuSecondsOfTree, startBenchProcess, type BenchProcess } from './processes.ts';
import { atOnce, startLedgerWorld, type LedgerWorld } from './wallets/ledger-world.ts';
import type { ReceiverReport } from './webhooks/receiver-process.ts';

const NOTIFICATIONS = 30_000;
/** Each has several notifications, which must arrive in order. */
const OBJECTS = 10_000;
const AT_ONCE = 32;
const STEADY_PER_SECOND = 100;
const STEADY_SECONDS = 20;
const SCOPE = { tenant_id: 'tenant_bench', environment_id: 'env_bench_webhooks' };

/**
 * Notifications delivered per second to one receiver that answers at once: the job of the product on a Postgres of
 * its own, the receiver in a process of its own. Limit = the same signed requests without the database. Then the
 * delay of notifications that are written steadily while another endpoint never answers; limit = the same without
 * that endpoint.
 */
export async function run(): Promise<BenchRow[]> {
  const receiver = await startBenchProcess(
    new URL('./webhooks/receiver-process.ts', import.meta.url),
    {},
  );
  const world = await startLedgerWorld();
  try {
    const { url } = await receiver.ask<ReceiverReport>('report');
    await world.pool`
      insert into environments (id, tenant_id, name, type)
      values (${SCOPE.environment_id}, ${SCOPE.tenant_id}, 'Webhooks', 'development')`;
    const deps = depsOf(world, new URL(url).host);
    await makeEndpoint(deps, `${url}/fast`);
    const rows = [await throughput(world, deps, receiver, url)];
    const alone = await steadyDelays(world, deps, receiver);
    await makeEndpoint(deps, `${url}/dead`);
    const besideDead = await steadyDelays(world, deps, receiver);
    deps.outbound.close();
    return [...rows, delayRow(besideDead, alone)];
  } finally {
    await receiver.stop();
    await world.close();
  }
}

function depsOf(world: LedgerWorld, host: string): DeliverWebhooksDeps {
  const deps = world.depsOf('bench');
  return {
    ...deps,
    pool: world.pool,
    outbound: createOutbound(),
    secretBox: createSecretBox([{ id: 'bench', key: randomBytes(32) }]),
    settings: { ...deps.settings, outbound_allowed_hosts: [host] },
  };
}

async function makeEndpoint(deps: DeliverWebhooksDeps, url: string): Promise<void> {
  const caller = { scope: SCOPE, user_id: 'user_bench' };
  await deps.pool.begin((tx) => createEndpoint(tx, deps, caller, { url }));
}

async function throughput(
  world: LedgerWorld,
  deps: DeliverWebhooksDeps,
  receiver: BenchProcess,
  url: string,
): Promise<BenchRow> {
  const direct = await withoutDatabase(deps, receiver, url);
  await writeNotifications(deps, 2_000);
  await runDelivery(deps);
  await receiver.ask('report');
  await writeNotifications(deps, NOTIFICATIONS);
  await world.collectStatistics();
  const own = process.cpuUsage();
  const all = cpuSecondsOfTree(process.pid);
  const began = performance.now();
  await runDelivery(deps);
  const seconds = (performance.now() - began) / 1000;
  const used = process.cpuUsage(own);
  const ownSeconds = (used.user + used.system) / 1e6;
  const total = cpuSecondsOfTree(process.pid) - all;
  const report = await receiver.ask<ReceiverReport>('report');
  assertAll(report, NOTIFICATIONS);
  const each = (cpuSeconds: number): string => ((cpuSeconds * 1000) / NOTIFICATIONS).toFixed(3);
  const notes =
    `${NOTIFICATIONS.toLocaleString('en-US')} notifications of ${OBJECTS.toLocaleString('en-US')} objects, each in order; CPU ms of each: ` +
    `${each(ownSeconds)} here, ${each(total - ownSeconds - report.cpuSeconds)} in Postgres, ${each(report.cpuSeconds)} of the receiver; ` +
    `limit = the same requests without the database, ${direct.cpuMs.toFixed(3)} here; ${load()}`;
  return benchRow('webhooks: one fast receiver', NOTIFICATIONS / seconds, 'deliveries/s', direct.perSecond, notes); // prettier-ignore
}

/** The same requests, signed and sent by the same client. */
async function withoutDatabase(
  deps: DeliverWebhooksDeps,
  receiver: BenchProcess,
  url: string,
): Promise<{ readonly perSecond: number; readonly cpuMs: number }> {
  const secrets = [newWebhookSecret()];
  const rules = { isProduction: false, allowedHosts: deps.settings.outbound_allowed_hosts };
  const send = (index: number) =>
    sendNotification(
      deps,
      {
        event_id: `outbox_${index}`,
        event_type: 'customer.updated',
        occurred_at: new Date().toISOString(),
        clock_time: null,
        environment_id: SCOPE.environment_id,
        sequence: String(index),
        payload: payloadOf(index),
      },
      { url: `${url}/fast`, secrets, rules },
    );
  await atOnce(2_000, AT_ONCE, send);
  await receiver.ask('report');
  const cpu = process.cpuUsage();
  const seconds = await atOnce(NOTIFICATIONS, AT_ONCE, send);
  const used = process.cpuUsage(cpu);
  assertAll(await receiver.ask<ReceiverReport>('report'), NOTIFICATIONS);
  return {
    perSecond: NOTIFICATIONS / seconds,
    cpuMs: (used.user + used.system) / 1000 / NOTIFICATIONS,
  };
}

/** Notifications written steadily, and the job at each second as its schedule says. */
async function steadyDelays(
  world: LedgerWorld,
  deps: DeliverWebhooksDeps,
  receiver: BenchProcess,
): Promise<readonly number[]> {
  const stop = new AbortController();
  const job = (async () => {
    while (!stop.signal.aborted) {
      await runDelivery(deps, stop.signal);
      await sleep(1000 - (Date.now() % 1000));
    }
  })();
  const ticks = STEADY_SECONDS * 10;
  for (let tick = 0; tick < ticks; tick += 1) {
    const next = sleep(100);
    await writeNotifications(deps, STEADY_PER_SECOND / 10);
    await next;
  }
  await sleep(2_000);
  stop.abort();
  await job;
  const report = await receiver.ask<ReceiverReport>('report');
  assertAll(report, ticks * (STEADY_PER_SECOND / 10));
  return report.delaysMs;
}

function delayRow(besideDead: readonly number[], alone: readonly number[]): BenchRow {
  const at = (delays: readonly number[], share: number): number =>
    delays[Math.floor((delays.length - 1) * share)]!;
  const notes =
    `from the event to its arrival, ${STEADY_PER_SECOND} notifications/s for ${STEADY_SECONDS} s, another endpoint never answers; ` +
    `p50 ${at(besideDead, 0.5)} ms, longest ${at(besideDead, 1)} ms; limit = p99 without that endpoint, p50 ${at(alone, 0.5)} ms; the job begins each second; ${load()}`;
  return benchRow('webhooks: delay beside a dead receiver, p99', at(besideDead, 0.99), 'ms', at(alone, 0.99), notes); // prettier-ignore
}

async function runDelivery(deps: DeliverWebhooksDeps, stop?: AbortSignal): Promise<void> {
  const now = async (): Promise<string> => new Date().toISOString();
  const runner = { pool: deps.pool, log: deps.log, holder: 'bench', now };
  const at = new Date().toISOString();
  const report = await runJob(runner, deliverWebhooks, deps, at, stop);
  if (report === null) throw new Error('the job did not run');
}

let written = 0;

async function writeNotifications(deps: DeliverWebhooksDeps, count: number): Promise<void> {
  const PAGE = 1_000;
  for (let begun = 0; begun < count; begun += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, count - begun) }, () => ({
      scope: SCOPE,
      event_type: 'customer.updated' as const,
      payload: payloadOf((written += 1)),
    }));
    await deps.pool.begin((tx) => writeOutboxEvents(tx, page));
  }
}

/** As large as a notification about a customer with an address. */
const payloadOf = (index: number): OutboxPayload => ({
  customer: {
    id: `cust_01K0000000000000000000${index % OBJECTS}`,
    external_id: `account-${index % OBJECTS}`,
    name: `Customer ${index % OBJECTS} of the bench`,
    email: `accounts-${index % OBJECTS}@example.com`,
    address_line1: '1 Example Street',
    address_line2: null,
    address_city: 'Exampleton',
    address_state: 'CA',
    address_postal_code: '90001',
    address_country: 'US',
    timezone: 'America/Los_Angeles',
    metadata: { segment: 'mid-market', account_manager: 'A. Person', change: String(index) },
    environment_id: SCOPE.environment_id,
    status: 'published',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  },
});

function assertAll({ received, outOfOrder }: ReceiverReport, sent: number): void {
  if (received !== sent || outOfOrder > 0)
    throw new Error(`${received} of ${sent} received, ${outOfOrder} out of order`);
}

const load = (): string => `load average ${loadavg()[0]!.toFixed(1)}`;
