import { invalidField, invalidOperation } from '../../domain/errors.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Transaction } from '../../postgres/client.ts';
import type { CreditGrant, UpdateCreditGrantBody } from '../../schemas/credit-grant.ts';
import type { BillingDeps } from '../deps.ts';
import { changed, sent, type Caller } from '../record.ts';
import { lockCreditGrant, updateCreditGrantRow } from './repository.ts';

/** Changes name and metadata, or the end, which lies in the future and belongs to a subscription's grant. */
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
    if (end_date <= isoTime(deps.clock.now()))
      throw invalidField('end_date', 'must be in the future');
  }
  return await updateCreditGrantRow(tx, caller.scope, id, {
    ...sent(rest),
    ...(end_date ? { end_date } : {}),
    ...changed(deps, caller),
  });
}

/**
 * Ends a grant: a template of a plan or an addon is archived and copies that run go on; a subscription's
 * grant gets an end and stays readable (money-semantics 5.1.7).
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
  const now = isoTime(deps.clock.now());
  await updateCreditGrantRow(tx, caller.scope, id, {
    ...(grant.scope === 'SUBSCRIPTION'
      ? { end_date: effectiveDate ?? now }
      : { status: 'archived' as const }),
    ...changed(deps, caller),
  });
}
