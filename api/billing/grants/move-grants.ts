import { grantAfterPause } from '../../../domain/wallet/grant-pauses.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import {
  findCreditGrantsOf,
  updateCreditGrantRow,
} from '../../catalog/credit-grants/repository.ts';
import type { Moved } from '../records/pause-repository.ts';
import { lastApplications, writeApplications } from './application-repository.ts';
import { runningGrant } from './running-grant.ts';

/**
 * Credits of subscriptions whose pause has ended come later by the pause, as the billing periods do (billing 12.4).
 * On a calendar neither moves. The caller holds the subscriptions' locks.
 */
export async function moveGrantsAfterPauses(
  tx: Transaction,
  scope: Scope,
  moved: readonly Moved[],
): Promise<void> {
  for (const { before, after } of moved)
    if (
      before.subscription_status === 'paused' &&
      after.subscription_status === 'active' &&
      after.billing_cycle === 'anniversary'
    )
      await moveGrantsOf(tx, scope, { before, after });
}

async function moveGrantsOf(
  tx: Transaction,
  scope: Scope,
  { before, after }: Moved,
): Promise<void> {
  const pause = { start: before.pause_at!, end: before.due_at! };
  const grants = await findCreditGrantsOf(tx, scope, 'subscription_id', [after.id]);
  const stored = await lastApplications(tx, scope, after.id);
  const { updated_at, updated_by } = after;
  for (const grant of grants) {
    const open = stored.find(
      ({ credit_grant_id, application_status: status }) =>
        credit_grant_id === grant.id && (status === 'pending' || status === 'failed'),
    );
    const change = open && grantAfterPause(runningGrant(grant, after), open, pause);
    if (!change) continue;
    const { application, ...dates } = change;
    await updateCreditGrantRow(tx, scope, grant.id, { ...dates, updated_at, updated_by });
    const next_attempt_at =
      application.scheduled_for === open.scheduled_for
        ? open.next_attempt_at
        : application.scheduled_for;
    await writeApplications(tx, [{ ...application, next_attempt_at, updated_at, updated_by }]);
  }
}
