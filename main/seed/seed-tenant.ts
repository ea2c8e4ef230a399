import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../demo/api-client.ts';
import {
  createBenefits,
  createCoupon,
  enableSpendAlerts,
  LAUNCH_CODE,
  watchSpend,
} from './benefits.ts';
import { createCatalog, type SeedCatalog } from './catalog.ts';
import { seedCustomers, type SeedCustomer } from './customers.ts';
import { DAY_MS, HOUR_MS, iso, monthsUntil, roundedUntil, type Month } from './months.ts';
import { SeedUsage } from './usage.ts';

const EVENTS_PER_CALL = 1_000;
/** Calls with events, and customers, that are under way at the same time. */
const SENDERS = 4;
const POLL_MS = 200;
const ADVANCE_SECONDS_MAX = 900;

export interface SeedOptions {
  readonly seed: number;
  readonly events: number;
  /** The time at which the data ends, in milliseconds. */
  readonly until: number;
  /** Called after each step, with the events sent so far. */
  readonly onProgress: (step: string, sent: number) => void;
}

export interface SeedSummary {
  readonly customers: number;
  readonly events: number;
  readonly invoices: number;
  readonly payments: number;
  readonly wallets: number;
  /** Money in usd. */
  readonly invoiced: string;
  readonly collected: string;
  readonly open: string;
  readonly seconds: SeedSeconds;
}

/** Where the time went, in seconds. */
export interface SeedSeconds {
  /** Plans, meters and features. */
  catalog: number;
  customers: number;
  /** Events are generated, encoded and accepted. */
  sending: number;
  /** The clock advances: usage is counted, invoices are issued and collected. */
  billing: number;
  /** Transfers, top-ups, a credit note and a refund. */
  settling: number;
}

interface Created {
  readonly id: string;
}
interface Tenant {
  readonly catalog: SeedCatalog;
  readonly clock: Created;
  readonly events: number;
}
interface Enrolled extends SeedCustomer {
  readonly id: string;
  readonly subscription_id: string;
  readonly wallet_id: string | null;
}

/**
 * Fills an empty environment through the public API: three plans, fifty customers on a test clock, and more
 * than three months of usage. Before the clock passes the end of a month, the usage of the month is sent; the
 * jobs of the service then bill it, charge cards and apply credits as in real time. An environment with plans
 * or customers is refused, so a second run changes nothing.
 */
export async function seedTenant(api: ApiClient, options: SeedOptions): Promise<SeedSummary> {
  await assertEmpty(api);
  const { seed, events, onProgress } = options;
  const spent: SeedSeconds = { catalog: 0, customers: 0, sending: 0, billing: 0, settling: 0 };
  const timed = async <Result>(
    part: keyof SeedSeconds,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const began = performance.now();
    const result = await work();
    spent[part] += (performance.now() - began) / 1000;
    return result;
  };
  const months = monthsUntil(roundedUntil(options.until));
  const customers = seedCustomers(seed, months);
  const usage = new SeedUsage(seed, events, customers, months);

  const { catalog, clock } = await timed('catalog', () => prepare(api, seed, events, months[0]!));
  onProgress('3 plans, 3 meters and 5 features', 0);

  const enrolled: Enrolled[] = [];
  let sent = 0;
  for (const [index, month] of months.entries()) {
    const joining = customers.filter(({ joins_in }) => joins_in === index);
    await timed('customers', async () => {
      enrolled.push(
        ...(await inGroups(joining, (customer) =>
          enroll(api, { catalog, clock, events }, customer),
        )),
      );
    });
    const name = iso(month.start).slice(0, 7);
    onProgress(`${name}: ${enrolled.length} customers`, sent);

    await timed('billing', () => advance(api, clock, month.end - HOUR_MS));
    sent += await timed('sending', () => send(api, usage.batchesOf(month, EVENTS_PER_CALL)));
    onProgress(`${name}: usage is sent`, sent);

    const isLast = index === months.length - 1;
    await timed('billing', () => advance(api, clock, isLast ? month.end : month.end + DAY_MS));
    if (!isLast) await timed('settling', () => settleMonth(api, enrolled, index));
    onProgress(isLast ? `${name}: usage is counted` : `${name}: invoices are issued`, sent);
  }
  return { ...(await summaryOf(api, enrolled, sent)), seconds: spent };
}

/** What the company sells, and the clock at the start of its first month. */
async function prepare(
  api: ApiClient,
  seed: number,
  events: number,
  first: Month,
): Promise<{ readonly catalog: SeedCatalog; readonly clock: Created }> {
  const startDate = iso(first.start);
  const catalog = await createCatalog(api, startDate);
  await createBenefits(api, catalog, { events, startDate });
  await createCoupon(api);
  await enableSpendAlerts(api);
  await configurePayments(api);
  const clock = await api.post<Created>('/test-clocks', { name: `Seed ${seed}`, now: startDate });
  return { catalog, clock };
}

async function assertEmpty(api: ApiClient): Promise<void> {
  for (const what of ['plans', 'customers']) {
    const { items } = await api.post<{ items: unknown[] }>(`/${what}/search`, { limit: 1 });
    if (items.length > 0)
      throw new Error(
        `The environment already has ${what}; the seed fills an empty one only. ` +
          'Create another environment (POST /v1/environments) and use a key of it.',
      );
  }
}

/** The built-in test gateway, and a second and third charge after a declined one. */
async function configurePayments(api: ApiClient): Promise<void> {
  await api.post('/connections', { name: 'Test gateway', provider_type: 'test' });
  await api.put('/settings/payment_retry_config', {
    value: { enabled: true, intervals_days: [3, 7], final_action: 'none' },
  });
}

/** Creates the customer with its card, credits and subscription at the time of the clock. */
async function enroll(
  api: ApiClient,
  { catalog, clock, events }: Tenant,
  customer: SeedCustomer,
): Promise<Enrolled> {
  const { id } = await api.post<Created>('/customers', {
    external_id: customer.external_id,
    name: customer.name,
    email: `billing@${customer.external_id}.example`,
    test_clock_id: clock.id,
  });
  if (customer.card !== null)
    await api.post(`/customers/${id}/payment-methods`, { gateway_method_id: customer.card });
  const wallet = customer.credits === null ? null : await createWallet(api, id, customer.credits);
  const subscription = await api.post<Created>('/subscriptions', {
    customer_id: id,
    plan_id: catalog.plans[customer.plan],
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    billing_cycle: 'calendar',
    proration_behavior: 'create_prorations',
    ...(customer.has_coupon ? { subscription_coupons: [{ coupon_code: LAUNCH_CODE }] } : {}),
    ...(customer.card === null
      ? { collection_method: 'send_invoice', payment_terms: '30 NET' }
      : { collection_method: 'charge_automatically' }),
  });
  if (customer.is_watched) await watchSpend(api, subscription.id, events);
  return { ...customer, id, subscription_id: subscription.id, wallet_id: wallet };
}

async function createWallet(api: ApiClient, customer_id: string, credits: string): Promise<string> {
  const wallet = await api.post<Created>('/wallets', {
    customer_id,
    currency: 'usd',
    name: 'Prepaid credits',
    initial_credits_to_load: credits,
  });
  return wallet.id;
}

/** What people do after a month has been invoiced: pay by transfer, buy credits, complain, leave. */
async function settleMonth(
  api: ApiClient,
  enrolled: readonly Enrolled[],
  index: number,
): Promise<void> {
  await inGroups(enrolled, async (customer) => {
    if (customer.wallet_id !== null)
      await api.post(`/wallets/${customer.wallet_id}/top-up`, {
        credits_to_add: customer.credits,
        transaction_reason: 'PURCHASED_CREDIT_DIRECT',
        idempotency_key: `month-${index}-${customer.external_id}`,
      });
    // The heaviest customer pays a month late, so that something is open.
    if (customer.card === null)
      await payByTransfer(api, customer, customer === enrolled[0] ? index - 1 : index);
    if (customer.leaves_after === index + 1)
      await api.post(`/subscriptions/${customer.subscription_id}/cancel`, {
        cancellation_type: 'end_of_period',
        reason: 'Moves to another provider',
      });
  });
  if (index !== 1) return;
  await creditHalfOfFee(api, enrolled[5]!);
  await refundPart(api, enrolled[6]!);
}

/** A few customers at the same time; the results are in the order of the items. */
async function inGroups<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += SENDERS)
    results.push(...(await Promise.all(items.slice(at, at + SENDERS).map(work))));
  return results;
}

interface Invoice {
  readonly id: string;
  readonly amount_remaining: string;
  readonly line_items: readonly {
    readonly id: string;
    readonly price_type: string | null;
    readonly amount: string;
  }[];
}

const invoicesOf = async (api: ApiClient, { subscription_id }: Enrolled): Promise<Invoice[]> =>
  (
    await api.post<{ items: Invoice[] }>('/invoices/search', {
      subscription_id,
      invoice_status: ['FINALIZED'],
      sort: [{ field: 'created_at', direction: 'asc' }],
    })
  ).items;

/** Pays the open invoices among the first `count` + 1 of the customer. */
async function payByTransfer(api: ApiClient, customer: Enrolled, count: number): Promise<void> {
  const invoices = (await invoicesOf(api, customer)).slice(0, count + 1);
  for (const invoice of invoices.filter(({ amount_remaining }) => amount_remaining !== '0'))
    await api.post('/payments', {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      payment_method_type: 'OFFLINE',
      amount: invoice.amount_remaining,
      currency: 'usd',
      idempotency_key: `transfer-${invoice.id}`,
    });
}

/** A day without service: half of the fee of the latest invoice is credited. */
async function creditHalfOfFee(api: ApiClient, customer: Enrolled): Promise<void> {
  const invoice = (await invoicesOf(api, customer)).at(-1);
  const fee = invoice?.line_items.find(({ price_type }) => price_type === 'FIXED');
  if (invoice === undefined || fee === undefined) return;
  await api.post('/creditnotes', {
    invoice_id: invoice.id,
    reason: 'SERVICE_ISSUE',
    memo: 'The service was not available on one day.',
    line_items: [{ invoice_line_item_id: fee.id, amount: '99.50' }],
    process_credit_note: true,
    idempotency_key: `half-fee-${invoice.id}`,
  });
}

/** An overcharge: a part of the latest payment goes back to the card. */
async function refundPart(api: ApiClient, customer: Enrolled): Promise<void> {
  const { items } = await api.post<{ items: Created[] }>('/payments/search', {
    customer_id: customer.id,
    payment_status: 'SUCCEEDED',
    payment_method_type: 'CARD',
    sort: [{ field: 'created_at', direction: 'desc' }],
    limit: 1,
  });
  const [payment] = items;
  if (payment === undefined) return;
  await api.post('/refunds', {
    payment_id: payment.id,
    amount: '40',
    target: 'BACK_TO_SOURCE',
    reason: 'REQUESTED_BY_CUSTOMER',
    idempotency_key: `part-${payment.id}`,
  });
}

/** Sends batches over several connections; answers the number of events. */
async function send(api: ApiClient, batches: Generator<object[]>): Promise<number> {
  let sent = 0;
  const sender = async (): Promise<void> => {
    for (const events of batches) {
      await api.post('/events/bulk', { events });
      sent += events.length;
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  return sent;
}

/** Advances the clock. All that was sent before is counted, and all that is due is done, when this returns. */
async function advance(api: ApiClient, { id }: Created, to: number): Promise<void> {
  await api.post(`/test-clocks/${id}/advance`, { to: iso(to) });
  const deadline = performance.now() + ADVANCE_SECONDS_MAX * 1000;
  for (;;) {
    const clock = await api.get<{ status: string; error: string | null }>(`/test-clocks/${id}`);
    if (clock.status === 'ready') return;
    if (clock.status === 'failed') throw new Error(`The test clock has stopped: ${clock.error}`);
    if (performance.now() > deadline)
      throw new Error(`The test clock does not reach ${iso(to)} in ${ADVANCE_SECONDS_MAX} s`);
    await sleep(POLL_MS);
  }
}

interface Figures {
  readonly currencies: readonly {
    readonly currency: string;
    readonly invoiced_amount: string;
    readonly invoiced_count: number;
    readonly open_amount: string;
    readonly collected_amount: string;
    readonly collected_count: number;
  }[];
}

async function summaryOf(
  api: ApiClient,
  enrolled: readonly Enrolled[],
  events: number,
): Promise<Omit<SeedSummary, 'seconds'>> {
  const { currencies } = await api.post<Figures>('/dashboard/summary', {});
  const usd = currencies.find(({ currency }) => currency === 'usd');
  return {
    customers: enrolled.length,
    events,
    invoices: usd?.invoiced_count ?? 0,
    payments: usd?.collected_count ?? 0,
    wallets: enrolled.filter(({ wallet_id }) => wallet_id !== null).length,
    invoiced: usd?.invoiced_amount ?? '0',
    collected: usd?.collected_amount ?? '0',
    open: usd?.open_amount ?? '0',
  };
}
