import { billingWorldFrom } from '../support/billing-world.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const CALLERS = 50;
const ROUNDS = 20;

const world = billingWorldFrom('2026-03-10T00:00:00.000Z');

async function subscribed() {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: '2026-03-01T00:00:00.000Z',
  });
  await world.usage.use(meter, customer, '2026-03-15T00:00:00.000Z', '7');
  return { customer, subscription };
}

const livingCycles = (subscription: { id: string }) => world.api.pool<
  { id: string; total: string; billing_sequence: number }[]
>`
  select id, total, billing_sequence from invoices
   where subscription_id = ${subscription.id} and billing_reason = 'SUBSCRIPTION_CYCLE'
     and invoice_status <> 'VOIDED'`;

/** I5 and I9 over everything that is stored. */
async function assertInvariants() {
  const { pool } = world.api;
  const twice = await pool`
    select subscription_id, period_start, billing_reason, revision from invoices
     where invoice_status <> 'VOIDED' group by 1, 2, 3, 4 having count(*) > 1`;
  expect(twice).toHaveLength(0);
  const [sums] = await pool`
    select bool_and(i.subtotal = coalesce(l.amount, 0)) as subtotal,
           bool_and(i.total = i.subtotal - i.total_discount + i.total_tax) as total,
           bool_and(i.amount_remaining = i.amount_due - i.amount_paid and i.amount_remaining >= 0) as remaining
      from invoices i
      left join lateral (select sum(amount) as amount from invoice_line_items where invoice_id = i.id) l on true`;
  expect(sums).toEqual({ subtotal: true, total: true, remaining: true });
  const numbers = await pool<{ month: string; numbers: number[] }[]>`
    select split_part(invoice_number, '-', 2) as month,
           array_agg(split_part(invoice_number, '-', 3)::int order by 1) as numbers
      from invoices where invoice_number is not null group by 1`;
  for (const row of numbers) {
    const sorted = row.numbers.toSorted((left, right) => left - right);
    expect(sorted).toEqual(sorted.map((_, index) => index + 1));
  }
  const drafts = await pool`
    select id from invoices where (invoice_number is null) <> (finalized_at is null)`;
  expect(drafts).toHaveLength(0);
}

test(`${CALLERS} callers, the job and the API at once make one invoice, ${ROUNDS} times`, async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { customer, subscription } = await subscribed();
    world.api.clock.set('2026-04-01T00:00:00.000Z');
    const body = {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      period_start: '2026-03-01T00:00:00.000Z',
      period_end: '2026-04-01T00:00:00.000Z',
    };
    const callers = Array.from({ length: CALLERS }, () => world.api.post('/v1/invoices', body));
    const jobs = [world.close(), world.close()];
    const [answers] = await Promise.all([Promise.all(callers), Promise.all(jobs)]);
    const living = await livingCycles(subscription);
    expect(living).toMatchObject([{ total: '103.5', billing_sequence: 2 }]);
    expect(new Set(answers.map(({ body: invoice }) => invoice.id))).toEqual(
      new Set([living[0]!.id]),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    world.api.clock.set('2026-03-10T00:00:00.000Z');
  }
  await assertInvariants();
});

test('finalize by hand, by the job, recompute and void at once: every end is one that the states allow', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { subscription } = await subscribed();
    world.api.clock.set('2026-04-01T00:00:00.000Z');
    await world.close();
    const [draft] = await livingCycles(subscription);
    world.api.clock.set('2026-04-01T02:00:00.000Z');
    const act = (action: string) => world.api.post(`/v1/invoices/${draft!.id}/${action}`);
    const others = round % 2 === 0 ? [act('void')] : [];
    const answers = await Promise.all([
      act('finalize'), act('finalize'), act('compute'), act('finalize'), ...others, world.finalize().then(() => ({ status: 200 })),
    ]); // prettier-ignore
    for (const { status } of answers) expect([200, 400, 409]).toContain(status);
    const { body } = await world.api.get(`/v1/invoices/${draft!.id}`);
    expect(round % 2 === 0 ? ['VOIDED'] : ['FINALIZED']).toContain(body.invoice_status);
    world.api.clock.set('2026-03-10T00:00:00.000Z');
  }
  await assertInvariants();
});

test('cancelled while its period is closed: usage up to the end is billed once', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { subscription } = await subscribed();
    world.api.clock.set('2026-04-01T00:00:00.000Z');
    const [answer] = await Promise.all([
      world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
        cancellation_type: 'immediate',
      }),
      world.close(),
    ]);
    expect([200, 409]).toContain(answer.status);
    const [billed] = await world.api.pool`
      select sum(l.quantity) as quantity, count(*)::int as rows
        from invoice_line_items l join invoices i on i.id = l.invoice_id
       where i.subscription_id = ${subscription.id} and l.price_type = 'USAGE' and l.quantity > 0
         and i.invoice_status <> 'VOIDED'`;
    expect(billed).toEqual({ quantity: '7', rows: 1 });
    world.api.clock.set('2026-03-10T00:00:00.000Z');
  }
  await assertInvariants();
});
