import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import { beside, exact, factsOf, settled, shown, type Facts } from './invoice-facts.ts';
import { iso } from './naive-calendar.ts';
import { Account } from './naive-contract.ts';
import { randomContract, randomUses } from './random-contract.ts';
import { ok, priceOf, signContract } from './sign-contract.ts';

/** Drafts of usage are final so long after their period. */
const GRACE_MS = 7_200_000;

/** What differs, in words; empty: every invoice is as the naive account says, and as its preview said. */
export async function liveContract(world: BillingWorld, seed: number): Promise<object[]> {
  const random = createRandom(seed);
  const contract = randomContract(random);
  const uses = randomUses(random, contract);
  const account = new Account(contract, uses);
  const differences: object[] = [];
  const note = (what: string, expected: Facts | null, found: Facts | null) => {
    const [missing, extra] = [beside(expected, found), beside(found, expected)];
    if (missing.length > 0 || extra.length > 0) differences.push({ seed, what, missing, extra });
  };

  world.api.clock.set(iso(contract.start));
  const { customer, subscription } = await signContract(world, contract, uses, `c${seed}`);
  const bills = account.bills();
  const opened = await invoicesOf(world, subscription);
  const hasOpening = bills[0]!.rows.length > 0;
  note(
    'opening',
    hasOpening ? factsOf(bills[0]!, false) : null,
    opened[0] === undefined ? null : shown(opened[0], contract, false),
  );
  for (const bill of bills.slice(1)) {
    const { start, end } = bill.period;
    world.api.clock.set(iso(end - 1));
    const previewed = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
    world.api.clock.set(iso(end));
    await world.close();
    const drafted = await cycleOf(world, subscription, start);
    note(`preview of ${iso(start)}`, drafted === null ? null : exact(drafted), exact(previewed));
    world.api.clock.set(iso(end + GRACE_MS));
    await world.finalize();
    const issued = await cycleOf(world, subscription, start);
    note(
      `invoice of ${iso(start)}`,
      factsOf(bill, true),
      issued === null ? null : shown(issued, contract, true),
    );
    if (issued?.invoice_status === 'DRAFT')
      note(`status of ${iso(start)}`, ['FINALIZED'], ['DRAFT']);
  }
  const running = account.periods[contract.periods];
  if (running !== undefined && contract.phase === null) {
    // Usage of the period before is final; a change of the running one is billed at once.
    world.api.clock.set(iso(Math.floor((running.start + running.end) / 2) + GRACE_MS / 2));
    for (const [what, path, body] of await changesOf(world, contract, subscription)) {
      const previewed = await ok(world, `${path}/preview`, body);
      const executed = await ok(world, `${path}/execute`, body);
      note(what, settled(executed), settled(previewed));
    }
    world.api.clock.set(iso(running.end - 1));
    const previewed = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
    world.api.clock.set(iso(running.end));
    await world.close();
    const drafted = await cycleOf(world, subscription, running.start);
    note('preview after changes', drafted === null ? null : exact(drafted), exact(previewed));
  }
  await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  return differences.length === 0
    ? []
    : [{ seed, contract: JSON.stringify(contract) }, ...differences];
}

async function invoicesOf(world: BillingWorld, { id }: { id: string }): Promise<any[]> {
  const found = await ok(world, '/invoices/search', { subscription_id: id, limit: 1000 });
  return found.items;
}

async function cycleOf(world: BillingWorld, of: { id: string }, start: number): Promise<any> {
  const invoices = await invoicesOf(world, of);
  const found = invoices.find(
    ({ period_start, billing_reason }) =>
      period_start === iso(start) && billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  return found ?? null;
}

/** A change of the quantity of each advance fee, then one of the plan: what, where and how. */
async function changesOf(
  world: BillingWorld,
  { currency, unit, count, fees }: Contract,
  { id }: { id: string },
): Promise<[what: string, path: string, body: object][]> {
  const plan = await world.catalog.plan();
  await ok(world, '/prices', {
    ...priceOf(plan, currency, 'FIXED'),
    ...{ billing_period: unit, billing_period_count: count, invoice_cadence: 'ADVANCE' },
    ...{ display_name: 'other fee', billing_model: 'FLAT_FEE', amount: '33.335' },
  });
  const { body } = await world.api.get(`/v1/subscriptions/${id}`);
  const advances = (body.line_items as any[]).filter(({ display_name }) =>
    fees.some(({ name, advance }) => advance && name === display_name),
  );
  const line_items = advances.map((line) => ({
    id: line.id,
    quantity: String(Number(line.quantity) + (line.quantity === '2' ? -1 : 3)),
  }));
  const modify = { type: 'quantity_change', quantity_change_params: { line_items } };
  const path = `/subscriptions/${id}`;
  return [
    ...(line_items.length === 0
      ? []
      : [['change of quantities', `${path}/modify`, modify] as [string, string, object]]),
    ['change of plan', `${path}/change/v2`, { target_plan_id: plan.id }],
  ];
}
