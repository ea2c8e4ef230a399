import { type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
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
  only: 'published',
});

export const updatePhaseRow = phases.change;

export async function insertPhases(
  tx: Transaction,
  rows: readonly SubscriptionPhase[],
): Promise<void> {
  await insertRows(tx, 'subscription_phases', rows);
}

/** Published phases of the subscriptions, in order of time. */
export const findPhasesOf = (
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<SubscriptionPhase[]> =>
  phases.findBy(db, scope, 'subscription_id', subscriptionIds, db`start_date, id`);

/** The notification of a phase. */
export const phaseEvent = (
  event_type:
    'subscription.phase.created' | 'subscription.phase.updated' | 'subscription.phase.deleted',
  scope: Scope,
  { id, subscription_id, start_date, end_date, metadata }: SubscriptionPhase,
): OutboxEvent & { readonly scope: Scope } => ({
  scope,
  event_type,
  payload: { phase: { id, subscription_id, start_date, end_date, metadata } },
});
