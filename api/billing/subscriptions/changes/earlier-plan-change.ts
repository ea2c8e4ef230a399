import { roundToCurrency } from '../../../../domain/currency.ts';
import { invalidField } from '../../../../domain/errors.ts';
import { decimal, decimalText, sum } from '../../../../domain/money.ts';
import type { Subscription } from '../../../../schemas/subscription-answers.ts';
import {
  ChangePlanBody,
  type ChangedPlan,
  type ChangeInvoicePreview,
  type ExecutedSubscriptionChange,
  type PreviewedSubscriptionChange,
  type ProrationDetails,
  type SubscriptionChangeBody,
} from '../../../../schemas/subscription-plan-change.ts';
import { findCreditGrantsOf } from '../../../catalog/credit-grants/repository.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { SettledChange } from '../../proration/settle-change.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { executePlanChange, previewPlanChange } from './change-plan.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Previews a plan change that was asked for in the earlier form: the same change in place (billing 14.2). */
export async function previewSubscriptionChange(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: SubscriptionChangeBody,
): Promise<PreviewedSubscriptionChange> {
  const asked = await changeAsked(deps, caller, id, body);
  const costs: SettledChange[] = [];
  const change = await previewPlanChange(deps, caller, id, asked, (cost) => costs.push(cost));
  const settled = costs.at(-1) ?? null;
  const subscription = settled?.operation.restarted ?? change.subscription;
  return {
    subscription_id: id,
    current_plan: change.from_plan,
    target_plan: change.to_plan,
    change_type: change.change_type,
    effective_date: change.effective_at,
    proration_details: prorationDetails(change, settled),
    next_invoice_preview: invoicePreview(change, settled),
    new_billing_cycle: {
      billing_anchor: subscription.billing_anchor,
      billing_cadence: 'RECURRING',
      billing_period: subscription.billing_period,
      billing_period_count: subscription.billing_period_count,
      period_start: subscription.current_period_start,
      period_end: subscription.current_period_end,
    },
    warnings: change.warnings,
    metadata: change.metadata,
  };
}

/** Changes the plan as asked for in the earlier form: the same change in place (billing 14.2). */
export async function executeSubscriptionChange(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: SubscriptionChangeBody,
): Promise<ExecutedSubscriptionChange> {
  const asked = await changeAsked(deps, caller, id, body);
  const costs: SettledChange[] = [];
  const change = await executePlanChange(deps, caller, id, asked, (cost) => costs.push(cost));
  const { from_plan, to_plan, is_scheduled, subscription } = change;
  const settled = costs.at(-1) ?? null;
  const { billing_anchor, current_period_start, current_period_end } =
    settled?.operation.subscription ?? subscription;
  const before = { ...subscription, billing_anchor, current_period_start, current_period_end };
  return {
    change_type: change.change_type,
    effective_date: change.effective_at,
    is_scheduled,
    schedule_id: change.schedule_id,
    scheduled_at: change.scheduled_at,
    old_subscription: summary(before, from_plan.id),
    new_subscription: summary(subscription, is_scheduled ? from_plan.id : to_plan.id),
    invoice: change.changed_resources.invoices[0]?.invoice ?? null,
    proration_applied: prorationDetails(change, settled),
    credit_grants: await findCreditGrantsOf(deps.pool, caller.scope, 'subscription_id', [id]),
    metadata: change.metadata,
  };
}

/**
 * The request in the form of the change in place. 400 for billing fields that differ from the subscription: a plan
 * change keeps them.
 */
async function changeAsked(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: SubscriptionChangeBody,
): Promise<ChangePlanBody> {
  const subscription = await getSubscription(deps.pool, caller.scope, id);
  for (const field of ['billing_period', 'billing_period_count', 'billing_cycle'] as const)
    if (body[field] != null && body[field] !== subscription[field])
      throw invalidField(
        field,
        `must be ${subscription[field]}, as on the subscription: a plan change keeps its periods`,
      );
  return ChangePlanBody.parse({
    target_plan_id: body.target_plan_id,
    proration_behavior: body.proration_behavior,
    change_at: body.change_at,
    billing_period_behaviour: body.billing_period_behaviour,
    metadata: body.metadata,
  });
}

const summary = (
  subscription: Subscription,
  plan_id: string,
): ExecutedSubscriptionChange['old_subscription'] => ({
  id: subscription.id,
  status: subscription.subscription_status,
  plan_id,
  billing_anchor: subscription.billing_anchor,
  current_period_start: subscription.current_period_start,
  current_period_end: subscription.current_period_end,
  created_at: subscription.created_at,
  archived_at: null,
});

/** Null if the change has no rows: without prorations, or with no fee in advance. */
function prorationDetails(
  { from_plan, to_plan, effective_at }: ChangedPlan,
  settled: SettledChange | null,
): ProrationDetails | null {
  if (settled === null || settled.rows.length === 0) return null;
  const { subscription, restarted } = settled.operation;
  const { currency, current_period_start, current_period_end } = subscription;
  const charged = restarted ?? subscription;
  const netOf = (kind: 'base' | 'credit') =>
    sum(settled.rows.filter((row) => row.kind === kind).map(({ net }) => decimal(net)));
  const charge = netOf('base');
  const credit = netOf('credit').neg();
  const daysTo = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / DAY_MS;
  const until = (end: string) => `${effective_at.slice(0, 10)} to ${end.slice(0, 10)}`;
  return {
    charge_amount: decimalText(charge),
    charge_description: `${to_plan.name} from ${until(charged.current_period_end)}`,
    credit_amount: decimalText(credit),
    credit_description: `Unused time of ${from_plan.name} from ${until(current_period_end)}`,
    net_amount: decimalText(roundToCurrency(charge.minus(credit), currency)),
    currency,
    current_period_start,
    current_period_end,
    proration_date: effective_at,
    days_used: Math.floor(daysTo(current_period_start, effective_at)),
    days_remaining: Math.ceil(daysTo(effective_at, current_period_end)),
  };
}

function invoicePreview(
  { changed_resources }: ChangedPlan,
  settled: SettledChange | null,
): ChangeInvoicePreview | null {
  const invoice = changed_resources.invoices[0]?.invoice ?? null;
  if (invoice === null || settled === null) return null;
  const priceAmounts = new Map(
    settled.changed.map(({ line }) => [line.price_id, line.price.amount]),
  );
  return {
    currency: invoice.currency,
    due_date: invoice.due_date,
    subtotal: invoice.subtotal,
    tax_amount: invoice.total_tax,
    total: invoice.total,
    line_items: (invoice.line_items ?? []).map((line) => ({
      description: line.display_name ?? '',
      quantity: line.quantity,
      unit_price: priceAmounts.get(line.price_id ?? '') ?? '0',
      amount: line.amount,
      is_proration: true,
      period_start: line.period_start,
      period_end: line.period_end,
    })),
  };
}
