import { Decimal, sum } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import type { Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import type { Note } from './contract-steps.ts';
import { balanceOf, invoicesOf } from './found-invoices.ts';
import { iso } from './naive-calendar.ts';
import type { Offers } from './preview-offers.ts';
import type { Signed } from './sign-contract.ts';
import { answerTo, factsIn } from './preview-facts.ts';

/** A contract whose changes are drawn as it runs. */
export interface Previewed {
  readonly world: BillingWorld;
  readonly random: Random;
  readonly contract: Contract;
  readonly offers: Offers;
  /** It, and those that are billed with it: a change may credit the customer of another one. */
  readonly group: readonly Signed[];
  readonly note: Note;
  /** What was done, in words. */
  readonly done: string[];
}

/** A request with its preview, or one without. */
export interface Asked {
  readonly what: string;
  readonly path: string;
  readonly body: object;
  readonly form: 'modify' | 'plan' | 'earlier plan' | 'late usage' | 'no preview';
}

/** A change of any type, as its preview said: its answer, and what is in the wallet then. */
export async function changeAtRandom(
  live: Previewed,
  draws: readonly Draw[] = DRAWS,
): Promise<void> {
  const asked = await drawn(live, draws);
  if (asked === null) return;
  const { world, note, done } = live;
  const { what, path, body, form } = asked;
  const at = iso(world.api.clock.now());
  if (form === 'no preview') {
    const { status, answer } = await answerTo(world, path, body);
    done.push(
      `${at} ${what}: ${status} ${status < 300 ? '' : (answer.error?.message ?? JSON.stringify(answer))}`,
    );
    return;
  }
  const execute = form === 'late usage' ? 'settle' : 'execute';
  const before = await stateOf(live);
  const previewed = await answerTo(world, `${path}/preview`, body);
  note(`${what}: state after its preview`, before, await stateOf(live));
  const held = await balanceIn(live);
  const executed = await answerTo(world, `${path}/${execute}`, body);
  done.push(
    `${at} ${what}: ${executed.status} ${executed.isDone ? '' : JSON.stringify(executed.answer)}`,
  );
  if (!previewed.isDone || !executed.isDone) {
    note(
      `${what}: refusal`,
      factsIn(executed.isDone ? 'done' : executed.answer),
      factsIn(previewed.isDone ? 'done' : previewed.answer),
    );
    return;
  }
  note(what, shown(form, executed.answer), shown(form, previewed.answer));
  // The earlier form does not tell what is credited.
  if (form === 'earlier plan' || form === 'late usage') return;
  note(`${what}: wallet`, [await balanceIn(live)], [balanceAfter(held, previewed.answer)]);
}

/** Money in the wallets of all customers who may be credited. */
async function balanceIn({ world, group }: Previewed): Promise<string> {
  const balances: Decimal[] = [];
  for (const one of group) balances.push(new Decimal(await balanceOf(world, one)));
  return sum(balances).toFixed();
}

/** What a preview may not change. */
async function stateOf(live: Previewed): Promise<string[]> {
  const { world, group } = live;
  const state: string[] = [];
  for (const { subscription } of group) {
    const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}`);
    state.push(JSON.stringify(body), JSON.stringify(await invoicesOf(world, subscription)));
  }
  return [...state, await balanceIn(live)];
}

function shown(form: Asked['form'], answer: any): readonly string[] {
  switch (form) {
    case 'modify':
      return factsIn(answer.changed_resources);
    case 'plan': {
      const { subscription: _, ...rest } = answer;
      return factsIn(rest);
    }
    case 'earlier plan':
      return earlierForm(answer);
    default:
      return factsIn(answer);
  }
}

/** What both answers of the earlier form say. */
function earlierForm(answer: any): readonly string[] {
  const invoice = answer.next_invoice_preview ?? answer.invoice ?? null;
  const cycle = answer.new_billing_cycle ?? {
    ...answer.new_subscription,
    period_start: answer.new_subscription.current_period_start,
    period_end: answer.new_subscription.current_period_end,
  };
  return [
    ...factsIn(answer.proration_details ?? answer.proration_applied ?? null, 'proration'),
    ...factsIn({ type: answer.change_type, at: answer.effective_date }),
    ...(invoice === null
      ? ['no invoice']
      : factsIn({
          ...{ subtotal: invoice.subtotal, total: invoice.total, due_date: invoice.due_date },
          tax: invoice.tax_amount ?? invoice.total_tax,
          rows: invoice.line_items.map((row: any) => ({
            ...{ name: row.description ?? row.display_name, quantity: row.quantity },
            ...{ amount: row.amount, start: row.period_start, end: row.period_end },
          })),
        })),
    ...factsIn({ anchor: cycle.billing_anchor, start: cycle.period_start, end: cycle.period_end }),
  ];
}

/** What is in the wallet after a change, as its answer says. */
function balanceAfter(held: string, answer: any): string {
  const settled: any[] =
    answer.changed_resources?.invoices ?? (answer.invoice ? [{ invoice: answer.invoice }] : []);
  return settled
    .reduce(
      (left, { action, amount, invoice }) =>
        action === 'wallet_credit'
          ? left.plus(amount)
          : left.minus(invoice.total_prepaid_credits_applied),
      new Decimal(held),
    )
    .toFixed();
}

/** Null: there is nothing to ask for. */
async function drawn(live: Previewed, draws: readonly Draw[]): Promise<Asked | null> {
  const { world, random, offers } = live;
  const { body: subscription } = await world.api.get(`/v1/subscriptions/${offers.subscription.id}`);
  if (subscription.subscription_status === 'cancelled') return null;
  const path = `/subscriptions/${subscription.id}`;
  for (let tries = 5; tries > 0; tries -= 1) {
    const asked = await random.pick(draws)(live, subscription, path);
    if (asked !== null) return asked;
  }
  return null;
}

export type Draw = (
  live: Previewed,
  subscription: any,
  path: string,
) => Asked | null | Promise<Asked | null>;

export const modify = (what: string, path: string, type: string, params: object): Asked => ({
  ...{ what, path: `${path}/modify`, form: 'modify' },
  body: { type, [`${type}_params`]: params },
});

const prorations = (random: Random) =>
  random.pick([
    {},
    {},
    { proration_behavior: 'create_prorations' },
    { proration_behavior: 'none' },
  ]);

/** An instant of the running period, mostly now. */
function effect({ world, random }: Previewed, subscription: any): number | null {
  const now = world.api.clock.now();
  const [start, end] = [
    Date.parse(subscription.current_period_start),
    Date.parse(subscription.current_period_end),
  ];
  if (random.chance(0.6)) return null;
  const [from, to] = random.chance(0.6) ? [start, now] : [now, end];
  return from + Math.floor((to - from) * random.next());
}

const running = ({ world }: Previewed, subscription: any): any[] =>
  subscription.line_items.filter(
    ({ start_date, end_date }: any) =>
      Date.parse(start_date) <= world.api.clock.now() &&
      (end_date === null || Date.parse(end_date) > world.api.clock.now()),
  );

const quantities: Draw = (live, subscription, path) => {
  const { random } = live;
  const fees = running(live, subscription).filter(({ price_type }) => price_type === 'FIXED');
  const chosen = fees.filter(() => random.chance(0.6));
  if (chosen.length === 0) return null;
  const line_items = chosen.map(({ id }) => {
    const at = effect(live, subscription);
    const quantity = String(random.below(8));
    return { id, quantity, ...(at === null ? {} : { effective_date: iso(at) }) };
  });
  return modify(`quantities ${JSON.stringify(line_items)}`, path, 'quantity_change', {
    line_items,
  });
};

const addAddon: Draw = (live, subscription, path) => {
  const { random, offers } = live;
  if (offers.addons.length === 0) return null;
  const at = effect(live, subscription);
  const add = {
    ...{ addon_id: random.pick(offers.addons).id, quantity: String(1 + random.below(3)) },
    ...(random.chance(0.2) ? { cadence: 'onetime' } : {}),
    ...prorations(random),
    ...(at === null ? {} : { start_date: iso(at) }),
  };
  return modify(`addon ${JSON.stringify(add)}`, path, 'addon', { action: 'add', add });
};

const removeAddon: Draw = async (live, subscription, path) => {
  const { world, random } = live;
  const { body } = await world.api.get(`/v1${path}/addons/associations`);
  const all = body.items ?? body;
  if (all.length === 0) return null;
  const at = random.chance(0.5) ? world.api.clock.now() : effect(live, subscription);
  const remove = {
    ...{ addon_association_id: random.pick<any>(all).id, ...prorations(random) },
    ...(at === null ? {} : { effective_date: iso(at) }),
  };
  return modify(`addon ${JSON.stringify(remove)}`, path, 'addon', { action: 'remove', remove });
};

const plan: Draw = ({ random, offers }, subscription, path) => {
  const others = offers.plans.filter(
    ({ id }) => id !== subscription.plan_id || random.chance(0.05),
  );
  if (others.length === 0) return null;
  const target_plan_id = random.pick(others).id;
  const body = {
    target_plan_id,
    ...prorations(random),
    ...(random.chance(0.3) ? { change_at: 'end_of_period', proration_behavior: 'none' } : {}),
    ...(random.chance(0.3) ? { billing_period_behaviour: 'anchor_at_effect' } : {}),
    ...(random.chance(0.5) ? { conflict_behaviour: 'supersede' } : {}),
    ...(random.chance(0.4) ? { entity_policies: { addons: random.pick(['carry', 'drop']) } } : {}),
  };
  if (random.chance(0.7))
    return { what: `plan ${JSON.stringify(body)}`, path: `${path}/change/v2`, body, form: 'plan' };
  const { billing_period, billing_period_count, billing_cycle } = subscription;
  const { conflict_behaviour: _, entity_policies: __, ...asked } = body as any;
  return {
    ...{
      what: `earlier plan ${JSON.stringify(asked)}`,
      path: `${path}/change`,
      form: 'earlier plan',
    },
    body: {
      ...{ billing_cadence: 'RECURRING', billing_period, billing_period_count, billing_cycle },
      ...{ proration_behavior: random.pick(['none', 'create_prorations']), ...asked },
    },
  };
};

const trialEnd: Draw = ({ world, random }, subscription, path) => {
  if (subscription.subscription_status !== 'trialing' && random.chance(0.95)) return null;
  const [now, end] = [world.api.clock.now(), Date.parse(subscription.current_period_end)];
  const new_trial_end = iso(now + 1 + Math.floor((end - now) * 2 * random.next()));
  const params = random.chance(0.5)
    ? { action: 'immediate' }
    : { action: 'scheduled_date', new_trial_end };
  return modify(`trial ${JSON.stringify(params)}`, path, 'trial_end', params);
};

const coupon: Draw = (live, subscription, path) => {
  const { random, offers } = live;
  const lines = running(live, subscription);
  const params = {
    ...{ action: 'add', coupon_code: random.pick(offers.coupons).coupon_code },
    ...(random.chance(0.5) && lines.length > 0
      ? { subscription_line_item_id: random.pick(lines).id }
      : {}),
  };
  return modify(`coupon ${JSON.stringify(params)}`, path, 'coupon', params);
};

/** Null: it has none. */
const couponEnd: Draw = ({ random }, { coupon_associations }, path) => {
  if (!coupon_associations?.length) return null;
  const { id: coupon_association_id } = random.pick<any>(coupon_associations);
  const params = { action: 'remove', coupon_association_id };
  return modify(`coupon ${JSON.stringify(params)}`, path, 'coupon', params);
};

/** Null: it has none. */
const taxEnd: Draw = async ({ world, random }, { id }, path) => {
  const asked = `entity_type=subscription&entity_id=${id}&limit=100`;
  const { body } = await world.api.get(`/v1/taxes/associations?${asked}`);
  if (!body.items?.length) return null;
  const { id: tax_association_id } = random.pick<any>(body.items);
  const params = { action: 'remove', tax_association_id };
  return modify(`tax ${JSON.stringify(params)}`, path, 'tax', params);
};

const tax: Draw = ({ random, offers }, _, path) => {
  const params = { action: 'add', tax_rate_code: random.pick(offers.rates).code };
  return modify(`tax ${JSON.stringify(params)}`, path, 'tax', params);
};

const family: Draw = ({ random, offers }, _, path) => {
  // A parent cannot change its plan.
  if (offers.others.length === 0 || random.chance(0.7)) return null;
  const ids = [random.pick(offers.others).external_id];
  const params = random.chance(0.5)
    ? { external_customer_ids_to_inherit_subscription: ids }
    : { action: 'remove', external_customer_ids_to_remove: ids };
  return modify(`family ${JSON.stringify(params)}`, path, 'inheritance', params);
};

const lateUsage: Draw = async (live) => {
  const { world, random, contract, offers } = live;
  const final = (await invoicesOf(world, offers.subscription)).filter(
    ({ invoice_status, billing_reason }) =>
      invoice_status === 'FINALIZED' && billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  const services = contract.services.filter(({ max }) => !max);
  if (final.length === 0 || services.length === 0) return null;
  const invoice = random.pick(final);
  const [start, end] = [Date.parse(invoice.period_start), Date.parse(invoice.period_end)];
  const value = String((random.below(400) - 150) / 4);
  const meter = offers.meters.get(random.pick(services).name)!;
  const at = start + Math.floor((end - start) * random.next());
  await world.usage.use(meter, offers.customer, iso(at), value);
  const body = { as: random.pick(['invoice', 'credit_note']) };
  const path = `/invoices/${invoice.id}/late-usage`;
  return { what: `late usage ${value} ${JSON.stringify(body)}`, path, body, form: 'late usage' };
};

const pause: Draw = ({ world, random }, subscription, path) => {
  const now = world.api.clock.now();
  const whole =
    Date.parse(subscription.current_period_end) - Date.parse(subscription.current_period_start);
  const later = (from: number) => from + 1 + Math.floor(whole * random.next());
  if (subscription.subscription_status === 'paused')
    return { what: 'resume', path: `${path}/resume`, body: {}, form: 'no preview' };
  const mode = random.pick(['immediate', 'scheduled', 'period_end']);
  const start = mode === 'scheduled' ? later(now) : now;
  const body = {
    pause_mode: mode,
    ...(mode === 'scheduled' ? { pause_start: iso(start) } : {}),
    ...(random.chance(0.5)
      ? { pause_end: iso(later(Math.max(start, Date.parse(subscription.current_period_end)))) }
      : {}),
  };
  return { what: `pause ${JSON.stringify(body)}`, path: `${path}/pause`, body, form: 'no preview' };
};

const cancel: Draw = ({ world, random }, subscription, path) => {
  if (random.chance(0.6)) return null;
  const [now, end] = [world.api.clock.now(), Date.parse(subscription.current_period_end)];
  const at = now + 1 + Math.floor((end - now) * 1.7 * random.next());
  const body = random.chance(0.5)
    ? { cancellation_type: 'end_of_period' }
    : { cancellation_type: 'scheduled_date', cancel_at: iso(at), ...prorations(random) };
  return {
    what: `cancel ${JSON.stringify(body)}`,
    path: `${path}/cancel`,
    body,
    form: 'no preview',
  };
};

/** Changes that any subscription may make, alone or in a group. */
export const OWN_DRAWS: readonly Draw[] = [
  quantities, quantities, quantities, addAddon, addAddon, addAddon, removeAddon, removeAddon, plan, coupon, coupon,
  couponEnd, tax, taxEnd, lateUsage, pause, cancel,
]; // prettier-ignore

const DRAWS: readonly Draw[] = [
  quantities, quantities, quantities, addAddon, addAddon, addAddon, removeAddon, removeAddon, plan, plan, plan,
  trialEnd, trialEnd, coupon, coupon, couponEnd, tax, tax, taxEnd, family, lateUsage, lateUsage, pause, cancel,
]; // prettier-ignore
