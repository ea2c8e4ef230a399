import { Decimal } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import { createRandom } from '../../support/random.ts';
import type { Bill, Contract, Kind, Reason } from './contract.ts';
import { beside, exact, factsOf, settled, shown, type Facts } from './invoice-facts.ts';
import { iso } from './naive-calendar.ts';
import { grantTimes } from './naive-grants.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { randomContract, randomUses } from './random-contract.ts';
import { ok, priceOf, signContract } from './sign-contract.ts';

/** What happens at an instant; of steps at one instant the first one that was added is first. */
interface Step {
  readonly at: number;
  readonly run: () => Promise<unknown>;
}

/** What differs, in words; empty: every invoice is as the naive account says, and as its preview said. */
export async function liveContract(
  world: BillingWorld,
  seed: number,
  kind: Kind,
): Promise<object[]> {
  const random = createRandom(seed);
  const contract = randomContract(random, kind);
  const uses = randomUses(random, contract);
  const account = new Account(contract, uses);
  const differences: object[] = [];
  const note = (what: string, expected: Facts | null, found: Facts | null) => {
    const [missing, extra] = [beside(expected, found), beside(found, expected)];
    if (missing.length > 0 || extra.length > 0) differences.push({ seed, what, missing, extra });
  };

  world.api.clock.set(iso(contract.start));
  const signed = await signContract(world, contract, uses, `c${seed}`);
  const { customer, subscription } = signed;
  const { bills, left } = account.settled();
  const steps = [
    ...pauseSteps(world, contract, account, subscription),
    ...quantitySteps(world, contract, subscription, note),
    ...cancelSteps(world, contract, account, subscription),
    ...addonSteps(world, contract, signed, note),
    ...familySteps(world, contract, signed),
    ...grantSteps(world, contract, bills),
    ...bills.flatMap((bill) => billSteps(world, contract, subscription, bill, note)),
  ].sort((left, right) => left.at - right.at);
  for (const { at, run } of steps) {
    world.api.clock.set(iso(at));
    await run();
  }
  const invoices = await invoicesOf(world, subscription);
  const known = new Set();
  for (const [index, bill] of bills.entries()) {
    const found = billed(invoices, bill, bills.slice(0, index));
    known.add(found);
    const hasRows = bill.rows.length > 0 || (found !== null && found.line_items.length > 0);
    const what = `${bill.reason} of ${iso(bill.period.start)}`;
    if (!hasRows) continue;
    // The rows of a change of quantity are cells; its sums are compared.
    const isChange = contract.changes.length > 0 && bill.reason === 'SUBSCRIPTION_UPDATE';
    const facts = (all: Facts) =>
      isChange ? all.filter((fact) => /^(subtotal|credits|total) /.test(fact)) : all;
    note(what, facts(factsOf(bill)), found === null ? null : facts(shown(found, contract)));
    if (found?.invoice_status === 'DRAFT') note(`status of ${what}`, ['FINALIZED'], ['DRAFT']);
  }
  for (const more of invoices.filter((one) => !known.has(one) && Number(one.subtotal) !== 0))
    note(`one more: ${more.billing_reason} of ${more.period_start}`, null, shown(more, contract));
  // Credits that have expired are not told apart here.
  if (contract.grants.length === 0)
    note('wallet', [new Decimal(left).toFixed()], [await balanceOf(world, signed)]);
  const running = account.periods[contract.periods];
  const isQuiet = contract.pauses.every(({ end }) => running !== undefined && end <= running.start);
  const runs = contract.cancelled === null && contract.phase === null;
  if (running !== undefined && runs && isQuiet) {
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
    const drafted = await invoiceOf(world, subscription, 'SUBSCRIPTION_CYCLE', running.start);
    note('preview after changes', drafted === null ? null : exact(drafted), exact(previewed));
  }
  await world.api.pool`update subscriptions set due_at = null where customer_id = ${customer.id}`;
  return differences.length === 0
    ? []
    : [{ seed, contract: JSON.stringify(contract) }, ...differences];
}

/** The preview of a cycle a millisecond before it is billed, the billing, and the end of its grace time. */
function billSteps(
  world: BillingWorld,
  { pauses }: Contract,
  subscription: { id: string },
  { reason, period, drafted, issued, rows }: Bill,
  note: (what: string, expected: Facts | null, found: Facts | null) => void,
): Step[] {
  if (reason === 'PRORATION') return [{ at: issued, run: () => world.finalize() }];
  if (reason !== 'SUBSCRIPTION_CYCLE' && reason !== 'SUBSCRIPTION_TRIAL_END') return [];
  let previewed: Facts | null = null;
  const isPaused = pauses.some(({ start, end }) => start < drafted && drafted <= end);
  const preview = async () => {
    previewed = exact(await ok(world, '/invoices/preview', { subscription_id: subscription.id }));
  };
  const close = async () => {
    await world.close();
    if (previewed === null) return;
    const found = await invoiceOf(world, subscription, reason, period.start);
    if (found === null && reason === 'SUBSCRIPTION_TRIAL_END' && rows.length === 0) return;
    note(`preview of ${iso(period.start)}`, found === null ? null : exact(found), previewed);
  };
  return [
    ...(isPaused ? [] : [{ at: drafted - 1, run: preview }]),
    { at: drafted, run: close },
    { at: issued, run: () => world.finalize() },
  ];
}

function pauseSteps(
  world: BillingWorld,
  { pauses }: Contract,
  account: Account,
  { id }: { id: string },
): Step[] {
  const path = `/subscriptions/${id}`;
  return pauses.flatMap(({ mode, start, end, byHand }, index): Step[] => {
    const before = Math.max(
      account.periods.findLast((period) => period.start < start)!.start,
      (pauses[index - 1]?.end ?? 0) + 1,
    );
    const body = {
      pause_mode: mode,
      ...(mode === 'scheduled' ? { pause_start: iso(start) } : {}),
      ...(byHand ? {} : { pause_end: iso(end) }),
    };
    const asked = mode === 'immediate' ? start : Math.floor((before + start) / 2);
    return [
      { at: asked, run: () => ok(world, `${path}/pause`, body) },
      ...(mode === 'scheduled' ? [{ at: start, run: () => world.close() }] : []),
      { at: end, run: () => (byHand ? ok(world, `${path}/resume`, {}) : world.close()) },
    ];
  });
}

/** Quantities change, each as its preview said. */
function quantitySteps(
  world: BillingWorld,
  { changes }: Contract,
  { id }: { id: string },
  note: (what: string, expected: Facts | null, found: Facts | null) => void,
): Step[] {
  const path = `/subscriptions/${id}`;
  return changes.map(({ fee, at, quantity }) => ({
    at,
    run: async () => {
      const { body } = await world.api.get(`/v1${path}`);
      const line = body.line_items.find(
        (one: any) => one.display_name === fee && isRunning(world, one.end_date),
      );
      const change = {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: line.id, quantity: String(quantity) }] },
      };
      const previewed = await ok(world, `${path}/modify/preview`, change);
      const executed = await ok(world, `${path}/modify/execute`, change);
      note(`quantity of ${fee}`, settled(executed), settled(previewed));
    },
  }));
}

/** The request, the end, and the end of the period that it cuts: nothing more is billed then. */
function cancelSteps(
  world: BillingWorld,
  { cancelled }: Contract,
  { periods }: Account,
  { id }: { id: string },
): Step[] {
  if (cancelled === null) return [];
  const { type, asked, at, prorated, invoiced } = cancelled;
  const body = {
    ...{ cancellation_type: type },
    ...(type === 'end_of_period' || asked === at ? {} : { cancel_at: iso(at) }),
    ...(prorated === null ? {} : { proration_behavior: prorated ? 'create_prorations' : 'none' }),
    ...(invoiced ? {} : { cancel_immediately_invoice_policy: 'skip' }),
  };
  const after = periods.find(({ end }) => end > at)?.end ?? at + GRACE_MS;
  return [
    { at: asked, run: () => ok(world, `/subscriptions/${id}/cancel`, body) },
    ...(at > asked ? [{ at, run: () => world.close() }] : []),
    { at: after, run: () => world.close() },
  ];
}

/** Addons are attached and detached, each as its preview said. */
function addonSteps(
  world: BillingWorld,
  contract: Contract,
  { subscription, addons }: Awaited<ReturnType<typeof signContract>>,
  note: (what: string, expected: Facts | null, found: Facts | null) => void,
): Step[] {
  const path = `/subscriptions/${subscription.id}`;
  const change = async (what: string, addon_params: object) => {
    const previewed = await ok(world, `${path}/modify/preview`, { type: 'addon', addon_params });
    const executed = await ok(world, `${path}/modify/execute`, { type: 'addon', addon_params });
    note(what, settled(executed), settled(previewed));
  };
  return contract.addons.flatMap(({ attached, detached, once, quantity, prorated }, index) => {
    const addon_id = addons[index]!.id;
    const proration =
      prorated === null ? {} : { proration_behavior: prorated ? 'create_prorations' : 'none' };
    const attach = () =>
      change(`addon ${index} is attached`, {
        action: 'add',
        add: {
          ...{ addon_id, quantity: String(quantity), ...proration },
          ...(once ? { cadence: 'onetime' } : {}),
        },
      });
    const detach = async () => {
      const associations = await world.api.get(`/v1${path}/addons/associations`);
      const own = (associations.body.items ?? associations.body).find(
        (one: any) => one.addon_id === addon_id,
      );
      await change(`addon ${index} is detached`, {
        action: 'remove',
        remove: {
          ...{ addon_association_id: own.id, ...proration },
          ...(detached!.now ? { effective_date: iso(detached!.at) } : {}),
        },
      });
    };
    return [
      { at: attached, run: attach },
      ...(detached === null ? [] : [{ at: detached.at, run: detach }]),
    ];
  });
}

/** Customers join and leave. */
function familySteps(
  world: BillingWorld,
  { members }: Contract,
  { subscription, others }: Awaited<ReturnType<typeof signContract>>,
): Step[] {
  const modify = (inheritance_params: object) =>
    ok(world, `/subscriptions/${subscription.id}/modify/execute`, {
      ...{ type: 'inheritance', inheritance_params },
    });
  return members.flatMap(({ joins, leaves }, index): Step[] => {
    const ids = [others[index]!.external_id];
    const join = { external_customer_ids_to_inherit_subscription: ids };
    const leave = { action: 'remove', external_customer_ids_to_remove: ids };
    return [
      ...(joins === null ? [] : [{ at: joins, run: () => modify(join) }]),
      ...(leaves === null ? [] : [{ at: leaves, run: () => modify(leave) }]),
    ];
  });
}

/** Credits are given when they are due, after the periods that end then, and written off at the same times. */
function grantSteps(world: BillingWorld, contract: Contract, bills: readonly Bill[]): Step[] {
  const until = bills.at(-1)?.issued ?? contract.start;
  const times = new Set(contract.grants.flatMap((grant) => grantTimes(contract, grant, until)));
  const run = async () => {
    await world.close();
    await world.run('apply-credit-grants');
    await world.run('expire-credits');
  };
  return [...times].map((at) => ({ at, run }));
}

/** The invoice of a bill: that of its period, or the next one of its reason. */
function billed(invoices: readonly any[], bill: Bill, earlier: readonly Bill[]): any {
  const ofReason = invoices
    .filter(({ billing_reason }) => billing_reason === bill.reason)
    .sort((left, right) => (left.created_at < right.created_at ? -1 : 1));
  if (bill.reason !== 'SUBSCRIPTION_CYCLE')
    return ofReason[earlier.filter(({ reason }) => reason === bill.reason).length] ?? null;
  return ofReason.find(({ period_start }) => period_start === iso(bill.period.start)) ?? null;
}

async function invoicesOf(world: BillingWorld, { id }: { id: string }): Promise<any[]> {
  const found = await ok(world, '/invoices/search', { subscription_id: id, limit: 1000 });
  return found.items;
}

/** Money in the wallets of the customers of a contract. */
async function balanceOf(
  world: BillingWorld,
  { customer, others }: Awaited<ReturnType<typeof signContract>>,
): Promise<string> {
  let sum = new Decimal(0);
  for (const { id } of [customer, ...others]) {
    const { body } = await world.api.get(`/v1/customers/${id}/wallets`);
    for (const { balance } of body) sum = sum.plus(balance);
  }
  return sum.toFixed();
}

async function invoiceOf(
  world: BillingWorld,
  of: { id: string },
  reason: Reason,
  start: number,
): Promise<any> {
  const invoices = await invoicesOf(world, of);
  const found = invoices.find(
    ({ period_start, billing_reason }) => period_start === iso(start) && billing_reason === reason,
  );
  return found ?? null;
}

/** A change of the quantity of each advance fee, then one of the plan: what, where and how. */
async function changesOf(
  world: BillingWorld,
  { currency, unit, count, fees, members, isDelegated }: Contract,
  { id }: { id: string },
): Promise<[what: string, path: string, body: object][]> {
  const plan = await world.catalog.plan();
  await ok(world, '/prices', {
    ...priceOf(plan, currency, 'FIXED'),
    ...{ billing_period: unit, billing_period_count: count, invoice_cadence: 'ADVANCE' },
    ...{ display_name: 'other fee', billing_model: 'FLAT_FEE', amount: '33.335' },
  });
  const { body } = await world.api.get(`/v1/subscriptions/${id}`);
  const advances = (body.line_items as any[]).filter(
    ({ display_name, end_date }) =>
      isRunning(world, end_date) &&
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
    // Only a subscription that stands alone changes its plan.
    ...(isDelegated || members.length > 0
      ? []
      : [
          ['change of plan', `${path}/change/v2`, { target_plan_id: plan.id }] as [
            string,
            string,
            object,
          ],
        ]),
  ];
}

const isRunning = ({ api }: BillingWorld, end: string | null): boolean =>
  end === null || Date.parse(end) > api.clock.now();
