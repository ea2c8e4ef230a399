import type { BillingWorld } from '../../support/billing-world.ts';
import type { Bill, Contract, Draft, Pause, Use } from './contract.ts';
import { invoiceOf } from './found-invoices.ts';
import { exact, settled, type Facts } from './invoice-facts.ts';
import { iso } from './naive-calendar.ts';
import { GRACE_MS, type Account } from './naive-contract.ts';
import { grantTimes } from './naive-grants.ts';
import { ok } from './sell-offer.ts';
import { compareBalance } from './shown-usage.ts';
import type { Signed } from './sign-contract.ts';

/** What happens at an instant; of steps at one instant the first one that was added is first. */
export interface Step {
  readonly at: number;
  readonly run: () => Promise<unknown>;
}

/** Notes what differs. */
export type Note = (what: string, expected: Facts | null, found: Facts | null) => void;

/** The preview of a cycle a millisecond before it is billed, the billing, and the end of its grace time. */
export function billSteps(
  world: BillingWorld,
  contract: Contract,
  subscription: { id: string; customer_id: string },
  { reason, period, drafted, issued, rows }: Bill,
  note: Note,
): Step[] {
  if (reason === 'PRORATION') return [{ at: issued, run: () => world.finalize() }];
  if (reason !== 'SUBSCRIPTION_CYCLE' && reason !== 'SUBSCRIPTION_TRIAL_END') return [];
  const { pauses, trialMoves } = contract;
  let previewed: Facts | null = null;
  const isPaused = pauses.some(({ start, end }) => start < drafted && drafted <= end);
  // What ends a trial at once has its own preview.
  const isEnded = trialMoves.some(({ asked }) => asked === drafted);
  const preview = async () => {
    const invoice = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
    previewed = exact(invoice);
    if (reason === 'SUBSCRIPTION_CYCLE')
      await compareBalance(world, contract, subscription, invoice, note);
  };
  const close = async () => {
    await world.close();
    if (previewed === null) return;
    const found = await invoiceOf(world, subscription, reason, period.start);
    if (found === null && rows.length === 0) return;
    note(`preview of ${iso(period.start)}`, found === null ? null : exact(found), previewed);
  };
  return [
    ...(isPaused || isEnded ? [] : [{ at: drafted - 1, run: preview }]),
    { at: drafted, run: close },
    { at: issued, run: () => world.finalize() },
  ];
}

export function pauseSteps(
  world: BillingWorld,
  { pauses }: Contract,
  account: Account,
  { id }: { id: string },
): Step[] {
  const path = `/subscriptions/${id}`;
  return pauses.flatMap((pause, index): Step[] => {
    const { mode, start, end, byHand, planned, isLast } = pause;
    const body = {
      pause_mode: mode,
      ...(mode === 'scheduled' ? { pause_start: iso(start) } : {}),
      ...(byHand ? {} : { pause_end: iso(end) }),
    };
    const resumption = { resume_mode: 'scheduled', resume_at: iso(end) };
    const resume = () =>
      byHand && planned === null ? ok(world, `${path}/resume`, {}) : world.close();
    const asked = whenPauseIsAsked(pause, pauses[index - 1], account);
    return [
      { at: asked, run: () => ok(world, `${path}/pause`, body) },
      ...(mode === 'scheduled' ? [{ at: start, run: () => world.close() }] : []),
      ...(planned === null
        ? []
        : [{ at: planned, run: () => ok(world, `${path}/resume`, resumption) }]),
      ...(isLast ? [] : [{ at: end, run: resume }]),
    ];
  });
}

/** A pause that is planned is asked for between the one before, or the start of the period, and its own start. */
export function whenPauseIsAsked(
  { mode, start }: Pause,
  last: Pause | undefined,
  { periods }: Account,
): number {
  const period = periods.findLast((one) => one.start < start)!;
  const before = Math.max(period.start, (last?.end ?? 0) + 1);
  return mode === 'immediate' ? start : Math.floor((before + start) / 2);
}

/** Quantities change, each as its preview said. */
export function quantitySteps(
  world: BillingWorld,
  { changes }: Contract,
  { id }: { id: string },
  note: Note,
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
      await changeAsPreviewed(world, `${path}/modify`, change, `quantity of ${fee}`, note);
    },
  }));
}

/** The request, the end, and the end of the period that it cuts: nothing more is billed then. */
export function cancelSteps(
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
    ...prorationOf(prorated),
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
export function addonSteps(
  world: BillingWorld,
  contract: Contract,
  { subscription, addons }: Signed,
  note: Note,
): Step[] {
  const path = `/subscriptions/${subscription.id}`;
  const change = (what: string, addon_params: object) =>
    changeAsPreviewed(world, `${path}/modify`, { type: 'addon', addon_params }, what, note);
  return contract.addons.flatMap(({ attached, detached, once, quantity, prorated }, index) => {
    const addon_id = addons[index]!.id;
    const proration = prorationOf(prorated);
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
export function familySteps(
  world: BillingWorld,
  { members }: Contract,
  { subscription, others }: Signed,
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

/** Limits of the subscription alone change. */
export function limitSteps(
  world: BillingWorld,
  { limits }: Contract,
  { overrides }: Signed,
): Step[] {
  return limits.map(({ service, at, limit }) => ({
    at,
    run: async () => {
      const path = `/v1/entitlements/${overrides.get(service)!.id}`;
      const { status, body } = await world.api.put(path, { usage_limit: limit });
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
    },
  }));
}

/** The draft in which usage of an instant is billed. */
const closingOf = <Closing extends Draft>(drafts: readonly Closing[], at: number) =>
  drafts.find(
    ({ reason, period }) =>
      (reason === 'SUBSCRIPTION_CYCLE' || reason === 'PRORATION') &&
      period.start <= at &&
      at < period.end,
  );

/** The use as it arrives: late for a draft that is final at once is late for its invoice. */
export function arriving(drafts: readonly Draft[], use: Use): Use {
  const closing = use.late === 'draft' ? closingOf(drafts, use.at) : undefined;
  const isFinal = closing !== undefined && closing.issued <= closing.drafted + 1;
  return isFinal ? { ...use, late: 'final' } : use;
}

/** Usage that arrives when its period is drafted, or when it is final. */
export function lateSteps(
  world: BillingWorld,
  uses: readonly Use[],
  { customer, others, meters }: Signed,
  bills: readonly Bill[],
): Step[] {
  return uses.flatMap(({ by, service, at, value, late }): Step[] => {
    if (late === undefined) return [];
    const closing = closingOf(bills, at);
    if (closing === undefined) return [];
    const user = [customer, ...others][by]!;
    const run = () => world.usage.use(meters.get(service)!, user, iso(at), value);
    return [{ at: late === 'draft' ? closing.drafted + 1 : closing.issued + 1, run }];
  });
}

/** Credits are given when they are due, after the periods that end then, and written off at the same times. */
export function grantSteps(
  world: BillingWorld,
  contract: Contract,
  bills: readonly Bill[],
): Step[] {
  const until = bills.at(-1)?.issued ?? contract.start;
  const times = new Set(contract.grants.flatMap((grant) => grantTimes(contract, grant, until)));
  const run = async () => {
    await world.close();
    await world.run('apply-credit-grants');
    await world.run('expire-credits');
  };
  return [...times].map((at) => ({ at, run }));
}

/** The plan changes, as its preview said; another change may wait for the end of the period until then. */
export function moveSteps(
  world: BillingWorld,
  { moves, prorated, unit, count, cycle }: Contract,
  { subscription, plans }: Signed,
  note: Note,
): Step[] {
  const path = `/subscriptions/${subscription.id}/change/v2`;
  return moves.flatMap((move, index): Step[] => {
    const target_plan_id = plans[index + 1]!.id;
    const later = { target_plan_id, change_at: 'end_of_period', proration_behavior: 'none' };
    const isLater = move.at > move.asked;
    const body = {
      ...(isLater ? later : { target_plan_id, ...prorationOf(move.prorated) }),
      ...(move.restarts ? { billing_period_behaviour: 'anchor_at_effect' } : {}),
    };
    const earlier = () => {
      const proration_behavior =
        !isLater && (move.prorated ?? prorated) ? 'create_prorations' : 'none';
      const terms = {
        billing_cadence: 'RECURRING',
        billing_period: unit,
        billing_period_count: count,
      };
      const asked = { ...body, ...terms, billing_cycle: cycle, proration_behavior };
      return moveInEarlierForm(world, `/subscriptions/${subscription.id}/change`, asked, note);
    };
    const change = async () => {
      const refused = [
        { ...later, conflict_behaviour: 'supersede', proration_behavior: 'create_prorations' },
        ...(move.supersedes === null ? [] : [body]),
      ];
      for (const one of refused) await refuses(world, `${path}/execute`, one, note);
      const asked = { ...body, conflict_behaviour: 'supersede' };
      await changeAsPreviewed(world, path, asked, `plan ${index + 1}`, note);
    };
    return [
      ...(move.supersedes === null
        ? []
        : [{ at: move.supersedes, run: () => ok(world, `${path}/execute`, later) }]),
      { at: move.asked, run: move.isEarlierForm ? earlier : change },
    ];
  });
}

/** The earlier form tells sums only. */
async function moveInEarlierForm(
  world: BillingWorld,
  path: string,
  body: object,
  note: Note,
): Promise<void> {
  const previewed = await ok(world, `${path}/preview`, body);
  const executed = await ok(world, `${path}/execute`, body);
  const facts = (details: object | null) => [JSON.stringify(details)];
  note(
    'plan in the earlier form',
    facts(executed.proration_applied),
    facts(previewed.proration_details),
  );
}

/** A change, as its preview said. */
export async function changeAsPreviewed(
  world: BillingWorld,
  path: string,
  body: object,
  what: string,
  note: Note,
): Promise<void> {
  const previewed = await ok(world, `${path}/preview`, body);
  const executed = await ok(world, `${path}/execute`, body);
  note(what, settled(executed), settled(previewed));
}

async function refuses(world: BillingWorld, path: string, body: object, note: Note): Promise<void> {
  const { status } = await world.api.post(`/v1${path}`, body);
  if (status < 400) note(`${path}: ${JSON.stringify(body)}`, ['refused'], [String(status)]);
}

export const prorationOf = (prorated: boolean | null): object =>
  prorated === null ? {} : { proration_behavior: prorated ? 'create_prorations' : 'none' };

export const isRunning = ({ api }: BillingWorld, end: string | null): boolean =>
  end === null || Date.parse(end) > api.clock.now();
