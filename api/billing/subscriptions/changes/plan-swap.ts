import { invalidField } from '../../../../domain/errors.ts';
import { decimal, decimalText } from '../../../../domain/money.ts';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import { priceTerms as ratingTerms } from '../../../../domain/pricing/price.ts';
import { rate } from '../../../../domain/pricing/rate.ts';
import {
  changeType,
  pairLines,
  type ChangeType,
} from '../../../../domain/subscription/plan-change.ts';
import { dueAt } from '../../../../domain/subscription/due.ts';
import { paidPeriodAt } from '../../../../domain/subscription/schedule.ts';
import { laterOf } from '../../../../domain/time/instant.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { AddonAssociationRow } from '../../../../schemas/addon-association.ts';
import type { ChangedPlan, EntityPolicies } from '../../../../schemas/subscription-plan-change.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { getPlanRow, type PlanRow } from '../../../catalog/offers/plan-repository.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { findPhasesOf } from '../../records/phase-repository.ts';
import type { ScheduleRow } from '../../records/schedule-repository.ts';
import { lineItem, withMeterNames } from '../line-item.ts';
import { selectedPrices } from '../selected-prices.ts';
import {
  addonsOfChange,
  addonsOfPeriod,
  droppedAddons,
  endedLines,
  type AddonOfChange,
} from './addons-of-change.ts';
import { billedLines } from './line-records.ts';

/** The facts that decide whether the plan can change. */
export const changeable = async (
  tx: Transaction,
  subscription: SubscriptionRow,
  pending: readonly ScheduleRow[],
) => ({
  ...subscription,
  has_phases: (await findPhasesOf(tx, subscription, [subscription.id])).length > 0,
  has_pending_cancellation:
    subscription.cancel_at !== null ||
    pending.some(({ schedule_type }) => schedule_type === 'cancellation'),
  has_pending_checkout: false,
});

/** A decided plan change that is not written yet. */
export interface PlanChange {
  readonly from: ChangedPlan['from_plan'];
  readonly to: ChangedPlan['to_plan'];
  readonly type: ChangeType;
  readonly swaps: readonly LineSwap[];
  /** Lines that continue with the same terms at another price id. */
  readonly kept: readonly { readonly line: BilledLine; readonly after: BilledLine }[];
  readonly sequence: number;
  readonly addons: readonly AddonOfChange[];
  /** Addons that end with the period that the change ends. */
  readonly ended: readonly AddonAssociationRow[];
  readonly effective_at: string;
  /** The billing periods restart at the change. */
  readonly restarts: boolean;
}

/**
 * The lines of the old plan paired with the prices of the new one (billing 14.2). A replaced fixed line keeps
 * its quantity when the new price allows it. One-time fees of the old plan that wait for the end of a trial end.
 * Lines of the subscription's own prices stay, and those of addons unless the request drops them.
 */
export async function planChange(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  asked: {
    readonly target_plan_id: string;
    readonly entity_policies?: EntityPolicies | null | undefined;
    /** The billing periods restart: every line that is charged in advance gets a new version at that instant. */
    readonly restarts: boolean;
  },
  effective_at: string,
): Promise<PlanChange> {
  const { scope } = caller;
  const targetPlanId = asked.target_plan_id;
  const [from, to] = await Promise.all([
    getPlanRow(tx, scope, subscription.plan_id),
    getPlanRow(tx, scope, targetPlanId),
  ]);
  if (to.status !== 'published')
    throw invalidField('target_plan_id', `plan ${targetPlanId} is ${to.status}`);
  const selection = {
    currency: subscription.currency,
    cadence: subscription,
    start: effective_at,
    end: subscription.end_date,
    include_price_ids: null,
  };
  const { selected, sequence } = await selectedPrices(
    tx,
    caller,
    targetPlanId,
    selection,
    effective_at,
  );
  const all = await billedLines(tx, scope, subscription.id);
  const current = all.filter(
    ({ entity_type, entity_id, start_date, end_date }) =>
      entity_type === 'plan' &&
      entity_id === subscription.plan_id &&
      start_date < (end_date ?? '9999') &&
      (end_date === null || end_date > effective_at),
  );
  const { entity_policies } = asked;
  const addons = await addonsOfChange(tx, caller, subscription, entity_policies, effective_at);
  const recurring = current.filter(({ billing_period }) => billing_period !== 'ONETIME');
  const { trial_end } = subscription;
  const undue =
    trial_end === null || effective_at > trial_end
      ? []
      : current.filter(({ billing_period }) => billing_period === 'ONETIME');
  const owner = {
    subscription_id: subscription.id,
    customer_id: subscription.customer_id,
    plan: to,
    selection,
  };
  const priceOf = new Map(selected.map((price) => [price.id, price]));
  const opened = (priceId: string, quantity: string | null): BilledLine => {
    const price = priceOf.get(priceId)!;
    const entity = { type: 'plan', id: to.id } as const;
    const draft = { entity, path: 'quantity', start_date: effective_at };
    const terms = ratingTerms(price);
    const fits =
      quantity !== null &&
      terms.type === 'FIXED' &&
      (terms.minQuantity === null ||
        decimal(quantity).isZero() ||
        decimal(quantity).gte(terms.minQuantity));
    return lineItem(deps, caller, owner, price, { ...draft, quantity: fits ? quantity : null });
  };
  const swaps: LineSwap[] = undue.map((before) => ({ before, after: null, effective_at }));
  const kept: { line: BilledLine; after: BilledLine }[] = [];
  const lineOf = new Map(current.map((line) => [line.id, line]));
  for (const pair of pairLines(recurring, selected)) {
    const before = 'line_id' in pair ? lineOf.get(pair.line_id)! : null;
    const next = pair.action === 'close' ? null : opened(pair.price_id, before?.quantity ?? null);
    if (pair.action === 'keep' && !asked.restarts) kept.push({ line: before!, after: next! });
    else swaps.push({ before, after: next, effective_at });
  }
  const ended = asked.restarts
    ? await addonsOfPeriod(tx, caller, subscription, addons, effective_at)
    : [];
  const closed = endedLines([...droppedAddons(addons), ...ended], all, effective_at);
  const changed = new Set<BilledLine | null>([...current, ...closed.map(({ before }) => before)]);
  const others = all.filter((line) => !changed.has(line));
  const named = await withMeterNames(
    tx,
    caller,
    swaps.flatMap(({ after }) => after ?? []),
  );
  const byId = new Map(named.map((line) => [line.id, line]));
  return {
    from: summary(from),
    to: summary(to),
    type: changeType(
      recurring.filter(({ price_type }) => price_type === 'FIXED').map(fee),
      [...swaps.flatMap(({ after }) => after ?? []), ...kept.map(({ after }) => after)]
        .filter(({ price_type }) => price_type === 'FIXED')
        .map(fee),
    ),
    swaps: [
      ...swaps.map((swap) => ({
        ...swap,
        after: swap.after === null ? null : byId.get(swap.after.id)!,
      })),
      ...closed,
      ...(asked.restarts ? continued(deps, caller, subscription, others, effective_at) : []),
    ],
    restarts: asked.restarts,
    addons,
    ended,
    effective_at,
    kept,
    sequence,
  };
}

/** Lines that pay in advance and go on: each ends with the period, and its next version pays the new one. */
const continued = (
  deps: BillingDeps,
  caller: Caller,
  { current_period_end }: SubscriptionRow,
  lines: readonly BilledLine[],
  effective_at: string,
): LineSwap[] =>
  lines
    .filter(
      ({ price_type, invoice_cadence, billing_period, start_date, end_date }) =>
        price_type === 'FIXED' &&
        invoice_cadence === 'ADVANCE' &&
        billing_period !== 'ONETIME' &&
        start_date < current_period_end &&
        (end_date === null || (end_date > effective_at && end_date > start_date)),
    )
    .map((before) => {
      const start_date = laterOf(effective_at, before.start_date);
      const after = { ...before, ...newRecord(deps, caller, 'subs_line'), start_date };
      return { before, after, effective_at: start_date };
    });

/**
 * The subscription with its new plan; with a new anchor if the periods restart (billing 14.2). A change that ends the
 * running period gives its `prorations`, because they rate that period.
 */
export function withPlan(
  subscription: SubscriptionRow,
  { to, sequence, effective_at, restarts }: PlanChange,
  prorations: { readonly proration_behavior?: ProrationBehavior } = {},
): SubscriptionRow {
  const { plan_id, billing_anchor, earlier_plans } = subscription;
  const earlier = { plan_id, billing_anchor, until: effective_at, restarts, ...prorations };
  return {
    ...subscription,
    plan_id: to.id,
    synced_price_sequence: String(sequence),
    include_price_ids: null,
    billing_anchor: restarts ? effective_at : billing_anchor,
    earlier_plans: [...earlier_plans, earlier],
  };
}

/** The subscription in the period that begins with the change (billing 14.2). */
export function restarted(
  subscription: SubscriptionRow,
  change: PlanChange,
  proration_behavior: ProrationBehavior,
): SubscriptionRow {
  const moved = {
    ...withPlan(subscription, change, { proration_behavior }),
    current_period_start: change.effective_at,
  };
  const { end } = paidPeriodAt(moved, change.effective_at)!;
  const begun = { ...moved, current_period_end: end };
  return { ...begun, due_at: dueAt(begun) };
}

/** The fee of a line for one of its periods. */
const fee = ({ terms, quantity, billing_period, billing_period_count }: BilledLine) => ({
  amount: decimalText(rate(terms.model, decimal(quantity)).amount),
  quantity: '1',
  billing_period,
  billing_period_count,
});

const summary = ({ id, name, lookup_key, description }: PlanRow) => ({
  id,
  name,
  lookup_key: lookup_key ?? '',
  description: description ?? '',
});
