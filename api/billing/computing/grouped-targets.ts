import { isMergedAt } from '../../../domain/subscription/hierarchy.ts';
import { laterOf, type Period } from '../../../domain/time/instant.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { groupedOf } from '../records/child-repository.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';
import type { InvoiceTarget } from './invoice-target.ts';
import { periodAfter } from './targets.ts';

/**
 * The targets with the grouped subscriptions whose rows are on their invoices (billing 16): those that the
 * stored invoice of a past period has, otherwise those that the parent has now. Only the invoice of a whole
 * period carries them.
 */
export async function withGrouped(
  db: Db,
  scope: Scope,
  targets: readonly InvoiceTarget[],
  at: string,
): Promise<InvoiceTarget[]> {
  const open = targets.filter(
    ({ grouped, billing_reason }) =>
      grouped === undefined && billing_reason === 'SUBSCRIPTION_CYCLE',
  );
  const stored = open.filter((target) => isPast(target, at));
  const running = open.filter(
    (target) => !isPast(target, at) && target.subscription.subscription_type === 'parent',
  );
  const ids = stored.flatMap(({ invoice }) => invoice!.grouped_subscription_ids);
  const [known, current] = await Promise.all([
    findSubscriptions(db, scope, ids),
    groupedOf(
      db,
      scope,
      running.map(({ subscription }) => subscription.id),
    ),
  ]);
  const byId = new Map(known.map((row) => [row.id, row]));
  const byParent = groupBy(current, (row) => row.parent_subscription_id!);
  return targets.map((target) => {
    if (stored.includes(target)) {
      const rows = target.invoice!.grouped_subscription_ids.flatMap((id) => byId.get(id) ?? []);
      return { ...target, grouped: rows.map((row) => groupedTarget(target, row)) };
    }
    if (!running.includes(target)) return target;
    const { period, subscription } = target;
    const rows = (byParent.get(subscription.id) ?? []).filter((row) => isMergedAt(row, period.end));
    return { ...target, grouped: rows.map((row) => groupedTarget(target, row)) };
  });
}

const isPast = ({ invoice, period }: InvoiceTarget, at: string): boolean =>
  invoice !== null && period.end <= at;

/** The rows of a grouped subscription on the invoice of its parent: its own terms, the parent's invoice. */
export function groupedTarget(parent: InvoiceTarget, child: SubscriptionRow): InvoiceTarget {
  const period: Period = {
    start: laterOf(parent.period.start, child.start_date),
    end: parent.period.end,
  };
  return {
    subscription: child,
    billing_reason: parent.billing_reason,
    period,
    proration_behavior: child.proration_behavior,
    covers: { closing: period, opening: periodAfter(child, period) },
    invoice: parent.invoice,
    ...(parent.replaces === undefined ? {} : { replaces: parent.replaces }),
    ...(parent.voided === undefined ? {} : { voided: parent.voided }),
    finalize_after: null,
    grouped: [],
  };
}

/** The invoice's own subscription, then the grouped ones. */
export const partsOf = (target: InvoiceTarget): readonly InvoiceTarget[] => [
  target,
  ...(target.grouped ?? []),
];
