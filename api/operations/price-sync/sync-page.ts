import { BillingError } from '../../../domain/errors.ts';
import { moveTask } from '../../../domain/states/task.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { TaskRow } from '../../../schemas/task.ts';
import { syncSubscription } from '../../billing/subscriptions/sync-plan-prices.ts';
import { syncableSubscriptions } from '../../billing/subscriptions/plan-price-sync-repository.ts';
import { getPlanRow } from '../../catalog/offers/plan-repository.ts';
import { inCustomersTime } from '../../customers/test-clocks/in-customers-time.ts';
import { inParts } from '../../conventions/in-parts.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { changeTask, getTask, lockTask } from '../tasks/repository.ts';

/** Subscriptions per transaction. */
const PAGE_SUBSCRIPTIONS = 50;
const SUMMARY_ROWS = 10;
const REASON_LENGTH_MAX = 300;

/**
 * The next page of a price sync. Subscriptions and progress are written in one transaction, so an interrupted
 * task continues after the last one done. A refused subscription stays unchanged, and the task reports which
 * one and why. Returns whether there is more to do.
 */
export async function syncPage(
  deps: BillingDeps,
  hold: (tx: Transaction) => Promise<void>,
  { id, tenant_id, environment_id }: TaskRow,
): Promise<boolean> {
  const scope = { tenant_id, environment_id };
  const task = await getTask(deps.pool, scope, id);
  const plan = await getPlanRow(deps.pool, scope, String(task.metadata['plan_id']));
  const ids = await syncableSubscriptions(deps.pool, scope, {
    plan_id: plan.id,
    created_until: task.created_at,
    after: String(task.metadata['last_subscription_id']),
    limit: PAGE_SUBSCRIPTIONS,
  });
  const caller: Caller = { scope, user_id: task.created_by };
  const write = (part: readonly string[], work: (tx: Transaction) => Promise<Progress>) =>
    deps.pool.begin(async (tx) => {
      await hold(tx);
      const locked = await lockTask(tx, scope, id);
      if (!isOpen(locked)) return false;
      await changeTask(tx, locked, progressed(deps, locked, part, await work(tx)));
      failpoint('jobs.sync_plan_prices.before_commit');
      return true;
    });
  const parts = await inParts(ids, async (part) => {
    try {
      return await write(part, async (tx) => {
        let changed = 0;
        for (const subscriptionId of part) {
          const own = await inCustomersTime(tx, deps, scope, [subscriptionId]);
          if (await syncSubscription(tx, own, caller, plan, subscriptionId)) changed += 1;
        }
        return { changed, refusal: null };
      });
    } catch (error) {
      // A page is split in halves; a subscription that fails alone is recorded as progress.
      if (part.length > 1 || !(error instanceof BillingError) || error.kind === 'unavailable')
        throw error;
      deps.log.warn({ subscription_id: part[0], err: error, ...scope }, 'prices not synced');
      return await write(part, async () => ({ changed: 0, refusal: error.message }));
    }
  });
  for (const { item, error } of parts.failed) {
    deps.log.error({ subscription_id: item, err: error, ...scope }, 'prices not synced');
    const refusal = 'an unexpected error of the service';
    await write([item], async () => ({ changed: 0, refusal }));
  }
  failpoint('jobs.sync_plan_prices.after_commit');
  if (parts.results.includes(false)) return false;
  if (ids.length === PAGE_SUBSCRIPTIONS) return true;
  await write([], async () => ({ changed: 0, refusal: null, isLast: true }));
  return false;
}

const isOpen = ({ task_status }: TaskRow): boolean =>
  task_status === 'PENDING' || task_status === 'PROCESSING';

interface Progress {
  readonly changed: number;
  /** Why the only subscription of the part was refused. */
  readonly refusal: string | null;
  readonly isLast?: boolean;
}

function progressed(
  { clock }: Pick<BillingDeps, 'clock'>,
  task: TaskRow,
  part: readonly string[],
  { changed, refusal, isLast = false }: Progress,
) {
  const at = isoTime(clock.now());
  const processed_records = task.processed_records + part.length;
  const failed_records = task.failed_records + (refusal === null ? 0 : 1);
  const lines = task.error_summary?.split('\n') ?? [];
  const more = refusal === null ? [] : [`${part[0]}: ${refusal.slice(0, REASON_LENGTH_MAX)}`];
  const summary = [...lines, ...more].slice(0, SUMMARY_ROWS);
  const working = moveTask(task.task_status, 'PROCESSING');
  const before = String(task.metadata['last_subscription_id']);
  const last = part.at(-1) ?? before;
  return {
    task_status: isLast ? moveTask(working, 'COMPLETED') : working,
    processed_records,
    successful_records: processed_records - failed_records,
    failed_records,
    // Subscriptions may have ended since the count, or moved to the plan.
    total_records: isLast ? processed_records : Math.max(task.total_records, processed_records),
    error_summary: summary.length === 0 ? null : summary.join('\n'),
    metadata: {
      ...task.metadata,
      changed_subscriptions: Number(task.metadata['changed_subscriptions']) + changed,
      last_subscription_id: last > before ? last : before,
    },
    started_at: task.started_at ?? at,
    completed_at: isLast ? at : null,
    updated_at: at,
  };
}
