import { setTimeout as sleep } from 'node:timers/promises';
import { connectPostgres, type Pool, type Scope } from '../../postgres/client.ts';
import { customerId, makeCustomers } from '../api/customers.ts';
import type { LoadReport } from '../whole/load-process.ts';
import type { Product } from '../whole/product.ts';

const EVENTS_PER_SECOND = 20_000;
const SPREAD_MS = 86_400_000;
const EVENT_NAMES = ['bench.count', 'bench.sum', 'bench.max'];
/** Between two lines of progress while events arrive. */
const REPORT_MS = 10_000;

/**
 * Fills the environment of the first API key: customers, each with a subscription, an invoice and a wallet, and
 * events. Customers are written directly. Events go through the API. The first contract is made by the
 * API; the database copies its rows for every other customer. Returns the address of the console, and how
 * many events were accepted.
 */
export async function fillEnvironment(
  product: Product,
  customers: number,
  events: number,
  note: (text: string) => void,
): Promise<{ readonly base: string; readonly accepted: number }> {
  const pool = connectPostgres({ url: product.ownerUrl, applicationName: 'bench' });
  try {
    const [scope] = await pool<Scope[]>`
      select tenant_id, environment_id from api_keys order by created_at limit 1`;
    await makeCustomers(pool, scope!, customers);
    note(`${customers} customers written`);
    const meterIds = await product.createMeters(EVENT_NAMES);
    await makeContract(product, meterIds[1]!);
    await copyContract(pool, note);
    const accepted = events > 0 ? await sendEvents(product, events, note) : 0;
    return { base: `${product.baseUrl}/env/${scope!.environment_id}`, accepted };
  } finally {
    await pool.end({ timeout: 1 });
  }
}

/** A subscription with a fee and a usage price, an invoice and a wallet of the first customer, through the API. */
async function makeContract({ api }: Product, meterId: string): Promise<void> {
  const customer_id = customerId(1);
  const plan = await api.post<{ id: string }>('/plans', { name: 'Growth' });
  const price = {
    entity_type: 'PLAN',
    entity_id: plan.id,
    billing_model: 'FLAT_FEE',
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    price_unit_type: 'FIAT',
  };
  await api.post('/prices', {
    ...price,
    type: 'FIXED',
    amount: '49',
    invoice_cadence: 'ADVANCE',
  });
  await api.post('/prices', {
    ...price,
    type: 'USAGE',
    meter_id: meterId,
    amount: '0.0001',
    invoice_cadence: 'ARREAR',
  });
  await api.post('/subscriptions', {
    customer_id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    billing_cycle: 'anniversary',
  });
  await api.post('/invoices', {
    customer_id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'Set-up', amount: '49', quantity: '1' }],
  });
  await api.post('/wallets', { customer_id, currency: 'usd', initial_credits_to_load: '100' });
}

const COPIED = [
  'subscriptions',
  'subscription_line_items',
  'invoices',
  'invoice_line_items',
  'wallets',
  'wallet_transactions',
] as const;
/**
 * The id of a copy for the customer `c`: it contains the end of the customer's id, before its own end, which differs
 * between two rows made in one millisecond.
 */
const copiedId = (column: string) =>
  `overlay(made.${column} placing right(c.id, 6) from length(made.${column}) - 13)`;
/** Columns in which a copy differs from the row `made` of the first customer. */
const OF_COPY: Readonly<Record<string, string>> = {
  id: copiedId('id'),
  subscription_id: copiedId('subscription_id'),
  subscription_line_item_id: copiedId('subscription_line_item_id'),
  invoice_id: copiedId('invoice_id'),
  wallet_id: copiedId('wallet_id'),
  customer_id: 'c.id',
  idempotency_key: 'null',
  invoice_number: `made.invoice_number || '-' || c.external_id`,
};

/** Every other customer gets a copy of the rows of the first. */
async function copyContract(pool: Pool, note: (text: string) => void): Promise<void> {
  const first = customerId(1);
  await pool.begin(async (tx) => {
    for (const table of COPIED) {
      const columns = await tx<{ name: string }[]>`
        select column_name as name from information_schema.columns
         where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`;
      const names = columns.map(({ name }) => name);
      await tx`alter table ${tx(table)} disable trigger user`;
      const { count } = await tx.unsafe(
        `insert into ${table} (${names.join(', ')})
         select ${names.map((name) => OF_COPY[name] ?? `made.${name}`).join(', ')}
           from ${table} made
           join customers c on c.tenant_id = made.tenant_id and c.environment_id = made.environment_id
          where made.customer_id = $1 and c.id <> $1`,
        [first],
      );
      await tx`alter table ${tx(table)} enable trigger user`;
      note(`${count} rows of ${table} copied`);
    }
  });
  for (const table of COPIED) await pool.unsafe(`vacuum analyze ${table}`);
  note('tables vacuumed');
}

/**
 * Events of the last 24 hours. Returns how many were accepted, when all of them are visible and their buckets are
 * sealed: a company sends them over the day, and a machine that seals a whole day at once is slow meanwhile. A machine
 * that accepts fewer than were offered ends with fewer events. A load that stands still fails.
 */
async function sendEvents(
  product: Product,
  events: number,
  note: (text: string) => void,
): Promise<number> {
  const load = await product.startLoad({
    eventsPerSecond: EVENTS_PER_SECOND,
    seconds: events / EVENTS_PER_SECOND,
    eventNames: EVENT_NAMES,
    customerPrefix: 'ext-',
    spreadMs: SPREAD_MS,
  });
  const reporting = setInterval(
    () => void product.visibleEvents().then((visible) => note(`${visible} events visible`)),
    REPORT_MS,
  );
  try {
    const { accepted, refused } = await load.ask<LoadReport>('go');
    clearInterval(reporting);
    note(`${accepted} events accepted, ${refused} refused`);
    for (let before = -1; ;) {
      const visible = await product.visibleEvents();
      note(`${visible} events visible`);
      if (visible >= accepted) break;
      if (visible === before) throw new Error(`${visible} of ${accepted} events became visible`);
      before = visible;
      await sleep(REPORT_MS);
    }
    await untilSealed(product, note);
    return accepted;
  } finally {
    clearInterval(reporting);
    await load.stop();
  }
}

/** Until no bucket was sealed for the time of a few cycles. */
async function untilSealed(product: Product, note: (text: string) => void): Promise<void> {
  for (let before = 0, quiet = 0; quiet < 3;) {
    await sleep(REPORT_MS);
    const sealed = await product.sealedBuckets();
    note(`${sealed} buckets sealed`);
    quiet = sealed > 0 && sealed === before ? quiet + 1 : 0;
    before = sealed;
  }
}
