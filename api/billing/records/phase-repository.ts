import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionPhase } from '../../../schemas/subscription-phase.ts';

const phases = tableOf<SubscriptionPhase>({
  name: 'subscription_phases',
  noun: 'Phase',
  columns: (db) => db`
  id, tenant_id, environment_id, subscription_id, start_date, end_date, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
});

export const updatePhaseRow = phases.change;

export async function insertPhases(
  tx: Transaction,
  rows: readonly SubscriptionPhase[],
): Promise<void> {
  await insertRows(tx, 'subscription_phases', rows);
}

/** Published phases of the subscriptions, in order of time. */
export async function findPhasesOf(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<SubscriptionPhase[]> {
  if (subscriptionIds.length === 0) return [];
  return await db<SubscriptionPhase[]>`
    select ${phases.columns(db)} from subscription_phases
     where ${inScope(db, scope)} and subscription_id = any(${subscriptionIds as string[]})
       and status = 'published'
     order by start_date, id`;
}

/** The notification of a phase. */
export const phaseEvent = (
  event_type:
    'subscription.phase.created' | 'subscription.phase.updated' | 'subscription.phase.deleted',
  scope: Scope,
  { id, subscription_id, start_date, end_date }: SubscriptionPhase,
): OutboxEvent & { readonly scope: Scope } => ({
  scope,
  event_type,
  payload: { phase: { id, subscription_id, start_date, end_date } },
});
