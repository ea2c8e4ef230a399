import { dueAt } from '../../../domain/subscription/due.ts';
import { isMergedAt } from '../../../domain/subscription/hierarchy.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupedOf } from '../records/child-repository.ts';
import { closing, type Advance } from './plan-advance.ts';

/** A step with what it does to grouped subscriptions (billing 16). */
export interface ParentAdvance extends Advance {
  readonly children: readonly ChildAdvance[];
}

/** A grouped subscription: `plan` closes its period with that of the parent; null if it is behind. */
interface ChildAdvance {
  readonly before: SubscriptionRow;
  readonly plan: Advance | null;
}

/**
 * The end of a parent's period is the end of the period of its grouped subscriptions: their rows are on the
 * parent's invoice. A child that is behind closes its own periods until it meets its parent.
 */
export async function withChildren(
  deps: BillingDeps,
  scope: Scope,
  plans: readonly Advance[],
): Promise<ParentAdvance[]> {
  const isClosing = ({ subscription, target }: Advance): boolean =>
    subscription.subscription_type === 'parent' && target?.billing_reason === 'SUBSCRIPTION_CYCLE';
  const rows = await groupedOf(
    deps.pool,
    scope,
    plans.filter(isClosing).map(({ subscription }) => subscription.id),
  );
  const byParent = groupBy(rows, (row) => row.parent_subscription_id!);
  const closed = new Set(rows.map(({ id }) => id));
  // A child of a closing parent makes no step of its own beside it.
  const own = plans.filter(({ subscription }) => !closed.has(subscription.id));
  return own.map((plan) => {
    if (!isClosing(plan)) return { ...plan, children: [] };
    const end = plan.target!.period.end;
    const children = (byParent.get(plan.subscription.id) ?? [])
      .filter((row) => row.current_period_end <= end)
      .map((before) => ({
        before,
        plan: isMergedAt(before, end) ? closing(before, deps.settings) : null,
      }));
    const grouped = children.flatMap((child) => child.plan?.target ?? []);
    return { ...plan, target: { ...plan.target!, grouped }, children };
  });
}

/** Grouped subscriptions after the step of their parent. */
export function childrenAfter(
  children: readonly ChildAdvance[],
  parent: SubscriptionRow,
  { at, user_id }: { readonly at: string; readonly user_id: string },
) {
  return children.map((child) => ({
    before: child.before,
    after: {
      ...(child.plan === null
        ? { ...child.before, merges_from: parent.current_period_end }
        : besideParent(child.plan.after('0'), parent)),
      updated_at: at,
      updated_by: user_id,
    },
  }));
}

/** The next period of a child; one that its own end cuts before that of its parent is billed by itself (billing 16). */
function besideParent(child: SubscriptionRow, parent: SubscriptionRow): SubscriptionRow {
  if (child.current_period_end >= parent.current_period_end) return child;
  const alone = { ...child, merges_from: parent.current_period_end };
  return { ...alone, due_at: dueAt(alone) };
}
