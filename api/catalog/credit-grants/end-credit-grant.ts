import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { CreditGrant, UpdateCreditGrantBody } from '../../../schemas/credit-grant.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, sent, type Caller } from '../../conventions/record.ts';
import { findSubscriptionEnd, lockCreditGrant, updateCreditGrantRow } from './repository.ts';

/**
 * Changes name and metadata, or the end. The end must be in the future and only a subscription's grant has
 * one.
 */
export async function updateCreditGrant(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdateCreditGrantBody,
): Promise<CreditGrant> {
  const grant = await lockCreditGrant(tx, caller.scope, id);
  const { end_date, ...rest } = body;
  if (end_date) {
    if (grant.scope !== 'SUBSCRIPTION')
      throw invalidField('end_date', 'is for grants of scope SUBSCRIPTION');
    const now = isoTime(deps.clock.now());
    assertRuns(grant, now);
    if (end_date <= now) throw invalidField('end_date', 'must be in the future');
    await assertEnd(tx, caller.scope, grant, end_date, 'end_date');
  }
  return await updateCreditGrantRow(tx, caller.scope, id, {
    ...sent(rest),
    ...(end_date ? { end_date } : {}),
    ...changed(deps, caller),
  });
}

/**
 * Ends a grant. A template of a plan or an addon is archived, and running copies continue. A subscription's
 * grant gets an end, by default now, and stays readable (money 5.1.7). A grant that has not begun
 * ends at its start.
 */
export async function endCreditGrant(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  effectiveDate: string | null,
): Promise<void> {
  const grant = await lockCreditGrant(tx, caller.scope, id);
  if (grant.status !== 'published') throw invalidOperation('The credit grant was deleted already.');
  if (grant.scope !== 'SUBSCRIPTION') {
    const archived = { status: 'archived' as const, ...changed(deps, caller) };
    await updateCreditGrantRow(tx, caller.scope, id, archived);
    return;
  }
  const now = isoTime(deps.clock.now());
  assertRuns(grant, now);
  if (effectiveDate !== null)
    await assertEnd(tx, caller.scope, grant, effectiveDate, 'effective_date');
  const notBefore = grant.start_date !== null && grant.start_date > now ? grant.start_date : now;
  await updateCreditGrantRow(tx, caller.scope, id, {
    end_date: effectiveDate ?? notBefore,
    ...changed(deps, caller),
  });
}

/** An ended grant gives no more credits, so its end cannot change. */
function assertRuns({ end_date }: CreditGrant, now: string): void {
  if (end_date !== null && end_date <= now)
    throw invalidOperation(`The credit grant ended at ${end_date}.`);
}

/** The end must lie within the grant and its subscription (money 5.1.1). */
async function assertEnd(
  tx: Transaction,
  scope: Scope,
  { start_date, subscription_id }: CreditGrant,
  end: string,
  path: string,
): Promise<void> {
  if (start_date !== null && end < start_date)
    throw invalidField(path, `must not be before the grant starts at ${start_date}`);
  const last = await findSubscriptionEnd(tx, scope, subscription_id);
  if (last !== null && end > last)
    throw invalidField(path, `must not be after the subscription ends at ${last}`);
}
