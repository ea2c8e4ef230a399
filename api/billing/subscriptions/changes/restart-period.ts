import assert from 'node:assert/strict';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { ChangedResources } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { settleChange } from '../../proration/settle-change.ts';
import { writeChange } from '../../proration/write-change.ts';
import { changeGrantsOfPlan } from '../attached-grants.ts';
import type { How } from './change-gate.ts';
import { NOTHING_CHANGED, previewedInvoices, writtenInvoices } from './changed-resources.ts';
import { applyPlan } from './apply-plan.ts';
import { planEnd, writeEnd, writtenEnd } from './ended-period.ts';
import { restarted, type PlanChange } from './plan-swap.ts';

/**
 * A plan change that ends the running period and begins a new one at its effect (billing 14.2). The advances settle at
 * once: what the old period has not served is credited, with prorations, against the whole advances of the new one.
 * Usage and arrears of the ended period are a draft, because usage may still come in (17.4). Writes everything; a
 * preview is rolled back by the caller, so that it shows what the execution does. The draft is written if its usage is
 * read already (`how.ended`); otherwise `how.onEnded` gets its plan, and the caller rolls the change back.
 */
export async function restartPeriod(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  {
    change,
    proration_behavior,
  }: { readonly change: PlanChange; readonly proration_behavior: ProrationBehavior },
  how: How,
): Promise<ChangedResources> {
  const { scope } = caller;
  const { at, isPreview, paid = null, onSettled, ended = null, onEnded } = how;
  assert((ended === null) !== (onEnded === undefined), 'the ended period is planned or written');
  const next = restarted(subscription, change, proration_behavior);
  const stored = await applyPlan(tx, deps, caller, next, change, at);
  const operation = { subscription, restarted: stored, swaps: change.swaps, proration_behavior };
  const settled = await settleChange(deps, tx, caller, operation, at);
  onSettled?.(settled);
  const previewed = isPreview ? await previewedInvoices(tx, scope, settled, how) : null;
  const written = await writeChange(tx, deps, caller, settled, {
    kind: 'plan_change',
    subscription: stored,
    at,
    paid,
  });
  await changeGrantsOfPlan(tx, deps, caller, stored, change, { at, proration_behavior });
  const draft = ended === null ? null : await writeEnd(tx, caller, stored, ended);
  onEnded?.(await planEnd(tx, deps, caller, { subscription, stored, proration_behavior, at }));
  await writeOutboxEvents(tx, [...written.events]);
  return {
    ...NOTHING_CHANGED,
    subscriptions: [
      {
        id: stored.id,
        action: 'updated',
        status: stored.subscription_status,
        trial_end: stored.trial_end,
        current_period_end: stored.current_period_end,
      },
    ],
    invoices: [
      ...(previewed ?? (await writtenInvoices(tx, scope, written))),
      ...(draft === null ? [] : [await writtenEnd(tx, scope, draft)]),
    ],
  };
}
