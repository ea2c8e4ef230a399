import { setTimeout as sleep } from 'node:timers/promises';
import { startTestApi, type TestApi } from '../support/api.ts';
import type { ChildTask } from '../support/billing-child.ts';
import {
  databaseUrl,
  BillingChildren,
  untilLeased,
  type Ended,
} from '../support/billing-children.ts';
import { createPeriodInvoice } from '../../api/billing/invoices/create-invoice.ts';
import { claimCommand, type CommandClaim } from '../../postgres/tables/idempotency.ts';
import { catalogOf, type TestCatalog } from '../support/catalog.ts';
import { WAIT_MS } from '../support/patience.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const START = '2026-03-01T00:00:00.000Z';
const END = '2026-04-01T00:00:00.000Z';

let api: TestApi;
let catalog: TestCatalog;
let url: string;
let children: BillingChildren;
beforeAll(async () => {
  children = await BillingChildren.create();
  api = await startTestApi();
  catalog = catalogOf(api);
  url = await databaseUrl(api.pool);
});
afterAll(async () => {
  await children.close();
  await api.close();
});
beforeEach(async () => {
  api.clock.set('2026-03-10T00:00:00.000Z');
  await api.pool`update subscriptions set due_at = null`;
  await api.pool`update invoices set finalize_after = null`;
});

/** Runs a task in another process; `killedAt` names the failpoint at which it kills itself. */
async function run(
  action: ChildTask['action'],
  at: string,
  killedAt = '',
  key?: string,
): Promise<Ended> {
  const task: ChildTask = {
    ...(key === undefined ? {} : { key }),
    url,
    at,
    failpoints: killedAt,
    caller: { scope: api.scope, user_id: api.user_id },
    action,
  };
  return await children.run(task);
}

let tick = Date.parse('2000-01-01T00:00:00Z');
const nextTick = () => new Date((tick += 60_000)).toISOString();

type JobName = 'close-job' | 'finalize-job' | 'sync-job' | 'clock-job';

/** Runs a job in another process, as soon as it gets the lease; `killedAt` as for `run`. */
const runJob = (name: JobName, at: string, killedAt = ''): Promise<Ended> =>
  untilLeased(() => run({ name, tick: nextTick() }, at, killedAt));

async function plan() {
  const made = await catalog.plan();
  await catalog.fixed(made, '100', { display_name: 'Base' });
  await catalog.usage(made, await catalog.meter(), { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(api.pool);
  return made;
}
async function subscribed() {
  const customer = await catalog.customer();
  const made = await plan();
  return {
    customer,
    plan: made,
    subscription: await catalog.subscribe(customer, made, { start_date: START }),
  };
}
const invoiceBody = (customer: { id: string }, subscription: { id: string }) => ({
  invoice_type: 'SUBSCRIPTION',
  customer_id: customer.id,
  subscription_id: subscription.id,
  currency: 'usd',
});

/** Everything that is kept about a subscription, in a form that compares. */
async function kept(subscription: { id: string }) {
  const invoices = await api.pool`
    select billing_reason, invoice_status, billing_sequence, total, invoice_number is not null as numbered,
           (select count(*)::int from invoice_line_items l where l.invoice_id = i.id) as rows
      from invoices i where subscription_id = ${subscription.id} order by billing_sequence, id`;
  const [row] = await api.pool`
    select subscription_status, current_period_start, last_billing_sequence, version
      from subscriptions where id = ${subscription.id}`;
  const [events] = await api.pool`
    select count(*)::int as count from outbox
     where payload -> 'subscription' ->> 'id' = ${subscription.id}
        or payload -> 'invoice' ->> 'subscription_id' = ${subscription.id}`;
  return { invoices: [...invoices], subscription: row, events: events!['count'] };
}

/** I9: numbers are given once and without gaps, and only to what is final. */
async function assertNumbers() {
  const rows = await api.pool<{ number: string }[]>`
    select invoice_number as number from invoices where invoice_number is not null order by 1`;
  const byMonth = new Map<string, number[]>();
  for (const { number } of rows) {
    const [, month, digits] = number.split('-');
    byMonth.set(month!, [...(byMonth.get(month!) ?? []), Number(digits)]);
  }
  for (const numbers of byMonth.values())
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
}

describe('a process that is killed inside a transaction leaves no partial change', () => {
  test('creating a subscription', async () => {
    const customer = await catalog.customer();
    const made = await plan();
    const body = {
      customer_id: customer.id, plan_id: made.id, currency: 'usd', billing_period: 'MONTHLY', start_date: START,
    }; // prettier-ignore
    const at = '2026-03-10T00:00:00.000Z';
    const killed = await run({ name: 'create', body }, at, 'api.create_subscription.before_commit');
    expect(killed).toEqual({ signal: 'SIGKILL', answer: undefined });
    const found = () => api.pool`select id from subscriptions where customer_id = ${customer.id}`;
    expect(await found()).toHaveLength(0);
    const done = await run({ name: 'create', body }, at);
    expect(await found()).toEqual([{ id: done.answer }]);
    await assertNumbers();
  });

  test.each`
    action        | failpoint
    ${'invoice'}  | ${'api.create_invoice.before_commit'}
    ${'compute'}  | ${'api.compute_invoice.before_commit'}
    ${'finalize'} | ${'api.finalize_invoice.before_commit'}
    ${'void'}     | ${'api.void_invoice.before_commit'}
    ${'cancel'}   | ${'api.cancel_subscription.before_commit'}
  `('$action', async ({ action, failpoint }) => {
    const { customer, subscription } = await subscribed();
    const at = '2026-03-10T00:00:00.000Z';
    const body = invoiceBody(customer, subscription);
    const target =
      action === 'invoice'
        ? ({ name: 'invoice', body } as const)
        : action === 'cancel'
          ? ({ name: 'cancel', id: subscription.id } as const)
          : ({ name: action, id: (await run({ name: 'invoice', body }, at)).answer } as const);
    const before = await kept(subscription);
    // Usage is final after its period only (billing 17.4).
    const then = action === 'finalize' ? END : at;
    expect((await run(target, then, failpoint)).signal).toBe('SIGKILL');
    expect(await kept(subscription)).toEqual(before);
    expect((await run(target, then)).signal).toBeNull();
    expect(await kept(subscription)).not.toEqual(before);
    await assertNumbers();
  });
});

describe('a command with an idempotency key whose process is killed', () => {
  const MARCH_10 = '2026-03-10T00:00:00.000Z';
  const MARCH_11 = '2026-03-11T00:00:00.000Z';
  const ownFailpoint: Record<string, string> = {
    invoice: 'api.create_invoice.before_commit',
    compute: 'api.compute_invoice.before_commit',
    finalize: 'api.finalize_invoice.before_commit',
    cancel: 'api.cancel_subscription.before_commit',
  };

  test.each(
    Object.entries(ownFailpoint).flatMap(([action, before]) => [
      [action, before],
      [action, 'command.after_commit'],
      [action, 'idempotency.before_answer'],
    ]),
  )('%s, killed at %s: one effect and the first result', async (action, failpoint) => {
    const { customer, subscription } = await subscribed();
    const body = invoiceBody(customer, subscription);
    const target = (
      action === 'invoice'
        ? { name: 'invoice', body }
        : action === 'cancel'
          ? { name: 'cancel', id: subscription.id }
          : { name: action, id: (await run({ name: 'invoice', body }, MARCH_10)).answer }
    ) as ChildTask['action'];
    // Usage is final after its period only (billing 17.4).
    const [first, second, third] =
      action === 'finalize'
        ? [END, '2026-04-02T00:00:00.000Z', '2026-04-03T00:00:00.000Z']
        : [MARCH_10, MARCH_11, '2026-03-12T00:00:00.000Z'];
    const key = `kill-${action}-${failpoint}`;
    const before = await kept(subscription);
    expect((await run(target, first!, failpoint, key)).signal).toBe('SIGKILL');
    const afterKill = await kept(subscription);
    const hadEffect = failpoint !== ownFailpoint[action];
    if (hadEffect) expect(afterKill).not.toEqual(before);
    else expect(afterKill).toEqual(before);

    // The claim is alive for 60 s after its last sign of life.
    expect((await run(target, second!, '', key)).answer).toEqual({ state: 'busy' });
    await api.pool`
      update idempotency_keys set alive_at = alive_at - interval '61 seconds' where key = ${key}`;
    const taken = await run(target, second!, '', key);
    expect(taken.signal).toBeNull();
    if (hadEffect) expect(await kept(subscription)).toEqual(afterKill);
    else expect(await kept(subscription)).not.toEqual(before);
    if (action === 'cancel')
      expect(taken.answer.processed_at).toBe(hadEffect ? MARCH_10 : MARCH_11);

    // The first answer is also every later answer.
    const once = await kept(subscription);
    expect((await run(target, third!, '', key)).answer).toEqual(taken.answer);
    expect(await kept(subscription)).toEqual(once);
    await assertNumbers();
  });

  test('an attempt that lost its claim writes nothing after another one has taken over', async () => {
    const { customer, subscription } = await subscribed();
    const key = 'kill-zombie';
    const claimOf = () =>
      claimCommand(api.pool, api.scope, key, 'same', { claim_id: 'c', holder: `${Math.random()}` });
    const zombie = await claimOf();
    await api.pool`
      update idempotency_keys set alive_at = alive_at - interval '61 seconds' where key = ${key}`;
    const heir = await claimOf();
    if (zombie.state !== 'claimed' || heir.state !== 'claimed') throw new Error('claimed twice');
    const before = await kept(subscription);
    const create = (claims: CommandClaim[]) =>
      createPeriodInvoice(
        { ...api.deps, claims },
        { scope: api.scope, user_id: api.user_id },
        invoiceBody(customer, subscription) as never,
      );
    await expect(create([zombie.claim])).rejects.toMatchObject({ code: 'idempotency_key_in_use' });
    expect(await kept(subscription)).toEqual(before);
    await create([heir.claim]);
    expect((await kept(subscription)).invoices).toHaveLength(before.invoices.length + 1);
  });
});

describe('the next process continues the jobs of a killed one', () => {
  test.each`
    failpoint
    ${'jobs.close_billing_periods.before_commit'}
    ${'jobs.close_billing_periods.after_commit'}
  `('closing periods, killed at $failpoint: one invoice per period', async ({ failpoint }) => {
    const many = await Promise.all(Array.from({ length: 4 }, subscribed));
    const at = '2026-05-02T00:00:00.000Z';
    expect((await runJob('close-job', at, failpoint)).signal).toBe('SIGKILL');
    await runJob('close-job', at);
    for (const { subscription } of many)
      expect(await kept(subscription)).toMatchObject({
        invoices: [
          { billing_reason: 'SUBSCRIPTION_CREATE', billing_sequence: 1, total: '100', rows: 1 },
          { billing_reason: 'SUBSCRIPTION_CYCLE', billing_sequence: 2, total: '103.5', rows: 2 },
          { billing_reason: 'SUBSCRIPTION_CYCLE', billing_sequence: 3, total: '103.5', rows: 2 },
        ],
        subscription: { current_period_start: '2026-05-01T00:00:00.000Z', version: 3 },
        // Created and issued; then a draft and a new period, twice.
        events: 6,
      });
    await assertNumbers();
  });

  test.each`
    failpoint
    ${'jobs.finalize_draft_invoices.before_commit'}
    ${'jobs.finalize_draft_invoices.after_commit'}
  `('finalizing, killed at $failpoint: each has one number', async ({ failpoint }) => {
    const many = await Promise.all(Array.from({ length: 4 }, subscribed));
    await runJob('close-job', END);
    const at = '2026-04-01T02:00:00.000Z';
    expect((await runJob('finalize-job', at, failpoint)).signal).toBe('SIGKILL');
    await runJob('finalize-job', at);
    for (const { subscription } of many)
      expect((await kept(subscription)).invoices).toMatchObject([
        { invoice_status: 'FINALIZED', numbered: true },
        { invoice_status: 'FINALIZED', numbered: true, total: '103.5', rows: 2 },
      ]);
    await assertNumbers();
  });

  test.each`
    failpoint
    ${'jobs.sync_plan_prices.before_commit'}
    ${'jobs.sync_plan_prices.after_commit'}
  `('syncing prices, killed at $failpoint: each line is made once', async ({ failpoint }) => {
    const made = await plan();
    const many: { id: string }[] = [];
    for (let count = 0; count < 4; count += 1)
      many.push(await catalog.subscribe(await catalog.customer(), made, { start_date: START }));
    const price = await catalog.usage(made, await catalog.meter());
    await completeBackfills(api.pool);
    const { body: asked } = await api.post(`/v1/plans/${made.id}/sync/subscriptions`);
    const at = '2026-03-10T00:00:00.000Z';
    expect((await runJob('sync-job', at, failpoint)).signal).toBe('SIGKILL');
    await runJob('sync-job', at);
    const lines = await api.pool`
      select subscription_id from subscription_line_items where price_id = ${price.id}`;
    expect(lines.map((row) => row['subscription_id']).sort()).toEqual(
      many.map(({ id }) => id).sort(),
    );
    expect((await api.get(`/v1/tasks/${asked.workflow_id}`)).body).toMatchObject({
      task_status: 'COMPLETED',
      processed_records: 4,
      metadata: { changed_subscriptions: 4 },
    });
  });

  test('two job processes at the same tick: the work is done once', async () => {
    const many = await Promise.all(Array.from({ length: 4 }, subscribed));
    const shared = nextTick();
    const [one, other] = await Promise.all([
      run({ name: 'close-job', tick: shared }, END),
      run({ name: 'close-job', tick: shared }, END),
    ]);
    const reports = [one!.answer, other!.answer].filter((report) => report !== null);
    expect(reports).toEqual([{ advanced: 4, invoices: 4, failed: 0 }]);
    for (const { subscription } of many)
      expect((await kept(subscription)).invoices).toHaveLength(2);
  });
});

test('an advance of a test clock continues after a kill, and does nothing twice', async () => {
  const made = await plan();
  const clockOf = async () => {
    const clock = (await api.post('/v1/test-clocks', { now: START })).body;
    const customer = await catalog.customer({ test_clock_id: clock.id });
    const subscription = await catalog.subscribe(customer, made);
    const to = '2026-06-10T00:00:00.000Z';
    expect((await api.post(`/v1/test-clocks/${clock.id}/advance`, { to })).status).toBe(202);
    return { clock, subscription, to };
  };
  const at = '2026-03-10T00:00:00.000Z';
  const whole = await clockOf();
  await runJob('clock-job', at);
  const killed = await clockOf();
  const places = [
    'jobs.close_billing_periods.before_commit',
    'jobs.close_billing_periods.after_commit',
    'jobs.finalize_draft_invoices.before_commit',
    'jobs.finalize_draft_invoices.after_commit',
    'jobs.advance_test_clocks.after_instant',
  ];
  for (const place of places) {
    const until = Date.now() + WAIT_MS;
    for (;;) {
      const ended = await run({ name: 'clock-job', tick: nextTick() }, at, place);
      if (ended.signal === 'SIGKILL') break;
      expect(Date.now()).toBeLessThan(until);
      await sleep(100);
    }
  }
  await runJob('clock-job', at);
  expect((await api.get(`/v1/test-clocks/${killed.clock.id}`)).body).toMatchObject({
    status: 'ready',
    now: killed.to,
  });
  expect(await kept(killed.subscription)).toEqual(await kept(whole.subscription));
  await assertNumbers();
});
