import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readConfig } from '../platform/config.ts';
import { createLogger } from '../platform/log.ts';
import { createApiClient, type ApiClient } from './demo/api-client.ts';
import { createCatalog, EVENT_NAME, type DemoCatalog } from './demo/catalog.ts';
import { recount } from './demo/recount.ts';
import { generatedInput, tracedInput, type DemoInput } from './demo/requests.ts';
import { grouped, money, progressBar, table } from './demo/table.ts';
import { startInstance } from './instance.ts';

/**
 * From an empty machine to a finalized invoice, and back to the input: compares every quantity on every
 * invoice with a recount that shares no code with the product. Exit code 1 on any difference.
 */
const { values: options } = parseArgs({
  options: {
    trace: { type: 'string' },
    events: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    /** URL of a running Meterline; by default the demo starts its own in a temporary directory. */
    base: { type: 'string' },
    key: { type: 'string' },
  },
});
const SEND_BATCH = 500;
const DUPLICATES_EVERY = 10;
const VISIBLE_SECONDS_MAX = 900;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const input =
  options.trace === undefined
    ? generatedInput(Number(options.seed), Number(options.events), new Date())
    : await tracedInput(options.trace);
const target = await openTarget();
try {
  const differences = await run(createApiClient(target.baseUrl, target.apiKey), input);
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  await target.close();
}

async function run(api: ApiClient, { requests, customers, period }: DemoInput): Promise<number> {
  const catalog = await createCatalog(api, period.start);
  const suffix = Date.now().toString(36);
  const subscriptions = await subscribe(api, catalog, customers, suffix, period.start);
  const copies = await send(api, requests, suffix);
  say(
    `Sent ${grouped(String(requests.length))} events and ${grouped(String(copies))} second copies.`,
  );
  await untilVisible(api, catalog, requests.length, customers, suffix, period);

  let differences = 0;
  for (const { customer, customerId, subscriptionId } of subscriptions) {
    const invoice = await invoiceOf(api, customerId, subscriptionId, period);
    differences += show(invoice, customer, catalog, requests);
  }
  say(
    `demo events=${requests.length} copies=${copies} invoices=${subscriptions.length} ` +
      `context_tokens=${total('contextTokens')} generated_tokens=${total('generatedTokens')} differences=${differences}`,
  );
  return differences;
}

function total(what: 'contextTokens' | 'generatedTokens'): string {
  return grouped(String(input.requests.reduce((sum, request) => sum + request[what], 0)));
}

interface Subscribed {
  readonly customer: string;
  readonly customerId: string;
  readonly subscriptionId: string;
}

async function subscribe(
  api: ApiClient,
  catalog: DemoCatalog,
  customers: readonly string[],
  suffix: string,
  start: string,
): Promise<Subscribed[]> {
  const subscribed: Subscribed[] = [];
  for (const customer of customers) {
    const { id: customerId } = await api.post<{ id: string }>('/customers', {
      external_id: `${customer}-${suffix}`,
      name: customer,
    });
    const { id: subscriptionId } = await api.post<{ id: string }>('/subscriptions', {
      customer_id: customerId,
      plan_id: catalog.planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      billing_cycle: 'anniversary',
      start_date: start,
    });
    subscribed.push({ customer, customerId, subscriptionId });
  }
  return subscribed;
}

/** Sends all events, and every tenth event a second time with other numbers, which must not count. */
async function send(
  api: ApiClient,
  requests: DemoInput['requests'],
  suffix: string,
): Promise<number> {
  const bar = progressBar('Sending', requests.length);
  const event = (request: DemoInput['requests'][number], extraTokens: number) => ({
    event_id: `${request.id}-${suffix}`,
    event_name: EVENT_NAME,
    external_customer_id: `${request.customer}-${suffix}`,
    timestamp: request.timestamp,
    properties: {
      context_tokens: request.contextTokens + extraTokens,
      generated_tokens: request.generatedTokens + extraTokens,
    },
  });
  let copies = 0;
  for (let at = 0; at < requests.length; at += SEND_BATCH) {
    const batch = requests.slice(at, at + SEND_BATCH);
    await api.post('/events/bulk', { events: batch.map((request) => event(request, 0)) });
    const again = batch.filter((_, index) => index % DUPLICATES_EVERY === 0);
    await api.post('/events/bulk', { events: again.map((request) => event(request, 1_000)) });
    copies += again.length;
    bar(Math.min(at + SEND_BATCH, requests.length));
  }
  return copies;
}

async function untilVisible(
  api: ApiClient,
  catalog: DemoCatalog,
  count: number,
  customers: readonly string[],
  suffix: string,
  period: DemoInput['period'],
): Promise<void> {
  const bar = progressBar('Metering', count);
  const deadline = performance.now() + VISIBLE_SECONDS_MAX * 1000;
  for (;;) {
    let visible = 0;
    for (const customer of customers) {
      const usage = await api.post<{ value: number | null }>('/events/usage/meter', {
        meter_id: catalog.requestsMeterId,
        external_customer_id: `${customer}-${suffix}`,
        start_time: period.start,
        end_time: period.end,
      });
      visible += Number(usage.value ?? 0);
    }
    bar(visible);
    if (visible === count) return;
    if (performance.now() > deadline)
      throw new Error(`${visible} of ${count} events are visible after ${VISIBLE_SECONDS_MAX} s`);
    await sleep(100);
  }
}

interface Invoice {
  readonly id: string;
  readonly invoice_number: string | null;
  readonly invoice_status: string;
  readonly currency: string;
  readonly total: string;
  readonly line_items: readonly {
    readonly display_name: string | null;
    readonly meter_id: string | null;
    readonly quantity: string;
    readonly amount: string;
    readonly period_start: string;
    readonly period_end: string;
  }[];
}

/** The invoice of the period; the billing job may have drafted it already. */
async function invoiceOf(
  api: ApiClient,
  customerId: string,
  subscriptionId: string,
  period: DemoInput['period'],
): Promise<Invoice> {
  const draft = await api.post<Invoice>('/invoices', {
    invoice_type: 'SUBSCRIPTION',
    customer_id: customerId,
    subscription_id: subscriptionId,
    currency: 'usd',
    period_start: period.start,
    period_end: period.end,
  });
  if (draft.invoice_status === 'DRAFT') await api.post(`/invoices/${draft.id}/finalize`, {});
  return api.get<Invoice>(`/invoices/${draft.id}`);
}

/** Prints one invoice next to the recount; returns how many quantities differ. */
function show(
  invoice: Invoice,
  customer: string,
  catalog: DemoCatalog,
  requests: DemoInput['requests'],
): number {
  const counted = recount(requests, customer);
  let differences = 0;
  const rows = invoice.line_items.map((line) => {
    const what = line.meter_id === null ? undefined : catalog.expected.get(line.meter_id);
    const expected = what === undefined ? null : String(counted[what]);
    const same = expected === null || expected === line.quantity;
    if (!same) differences += 1;
    const verdict = expected === null ? '' : same ? '✓' : `✗ ${grouped(expected)}`;
    return [line.display_name ?? '', grouped(line.quantity), money(line.amount), verdict];
  });
  const billed = new Set(invoice.line_items.map((line) => line.meter_id));
  for (const meterId of catalog.expected.keys())
    if (!billed.has(meterId)) {
      differences += 1;
      rows.push([`meter ${meterId}`, 'missing', '', '✗']);
    }
  say(`\n${customer}: invoice ${invoice.invoice_number ?? invoice.id}, ${invoice.invoice_status}`);
  say(table(['line', 'quantity', invoice.currency, 'recount'], rows, [1, 2]));
  say(`total ${money(invoice.total)} ${invoice.currency}\n`);
  return differences;
}

async function openTarget(): Promise<{ baseUrl: string; apiKey: string; close(): Promise<void> }> {
  const { base, key } = options;
  if (base !== undefined && key !== undefined)
    return { baseUrl: base.replace(/\/(v1)?$/, ''), apiKey: key, close: async () => {} };
  const directory = mkdtempSync(join(tmpdir(), 'meterline-demo-'));
  const env = { LOG_LEVEL: 'warn', ...process.env, DATA_DIR: join(directory, 'data'), PORT: '0' };
  const config = readConfig(env);
  say('Starting a Meterline for the demo …');
  const instance = await startInstance({ config, log: createLogger(config.LOG_LEVEL, 'demo') });
  return {
    baseUrl: instance.baseUrl,
    apiKey: instance.apiKey!,
    async close() {
      await instance.stop();
      rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}
