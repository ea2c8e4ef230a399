import { BillingError, invalidField } from '../../../domain/errors.ts';
import { assertSameRates, validateGrant } from '../../../domain/wallet/credit-grant.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { CreateCreditGrantBody, CreditGrant } from '../../../schemas/credit-grant.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { grantTerms } from './grant-terms.ts';
import {
  findCreditGrantsOf,
  GRANT_OWNERS,
  insertCreditGrant,
  lockGrantOwner,
  type GrantOwner,
} from './repository.ts';

/**
 * Creates a grant of a plan, an addon or a subscription (money 5.1). Grants of plans and addons are
 * templates without dates; all grants of one owner have the same rates.
 */
export async function createCreditGrant(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCreditGrantBody,
): Promise<CreditGrant> {
  const { scope } = caller;
  const { column } = GRANT_OWNERS[body.scope];
  const grant: CreditGrant = {
    ...newRecord(deps, caller, 'cg'),
    ...grantTerms(body),
    scope: body.scope,
    plan_id: null,
    addon_id: null,
    subscription_id: null,
    addon_association_id: null,
  };
  const ownerId = body[column];
  if (!ownerId) throw invalidField(column, `is required with the scope ${body.scope}`);
  validateGrant(grant, null);
  const dates = await datesOfLockedOwner(tx, scope, body.scope, ownerId);
  refuseOtherOwners(body);
  if (body.scope === 'SUBSCRIPTION') validateGrant(grant, dates);
  const siblings = await findCreditGrantsOf(tx, scope, column, [ownerId]);
  assertGrantRates([grant, ...siblings]);
  return await insertCreditGrant(tx, { ...grant, [column]: ownerId });
}

/** A grant has one owner, that of its scope (money 5.1.1). */
function refuseOtherOwners(body: CreateCreditGrantBody): void {
  for (const [scope, { column }] of Object.entries(GRANT_OWNERS))
    if (scope !== body.scope && body[column])
      throw invalidField(column, `has no effect with the scope ${body.scope}`);
}

/** The rule names fields of a list of grants; here the fields belong to the body itself. */
function assertGrantRates(grants: readonly CreditGrant[]): void {
  try {
    assertSameRates(grants);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    const path = error.details[0]?.path.replace('credit_grants.', '') ?? 'conversion_rate';
    throw invalidField(path, 'must be that of the other grants of the same owner');
  }
}

/**
 * Locks the owner, so that two concurrent grants cannot have different rates. Returns a subscription's dates.
 * 404 if it is unknown, 400 if it is not published.
 */
async function datesOfLockedOwner(
  tx: Transaction,
  scope: Scope,
  grantScope: CreditGrant['scope'],
  id: string,
): Promise<GrantOwner['dates']> {
  const { status, dates } = await lockGrantOwner(tx, scope, grantScope, id);
  if (status !== 'published') throw invalidField(GRANT_OWNERS[grantScope].column, `is ${status}`);
  return dates;
}
