import { BillingError, invalidField, notFound } from '../../../domain/errors.ts';
import { assertSameRates, validateGrant } from '../../../domain/wallet/credit-grant.ts';
import { inScope, type Scope, type Transaction } from '../../../postgres/client.ts';
import type { CreateCreditGrantBody, CreditGrant } from '../../../schemas/credit-grant.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { grantTerms } from './grant-terms.ts';
import { findCreditGrantsOf, insertCreditGrant } from './repository.ts';

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
  const owner = OWNERS[body.scope];
  const grant: CreditGrant = {
    ...newRecord(deps, caller, 'cg'),
    ...grantTerms(body),
    scope: body.scope,
    plan_id: null,
    addon_id: null,
    subscription_id: null,
    addon_association_id: null,
  };
  const ownerId = body[owner.column];
  if (!ownerId) throw invalidField(owner.column, `is required with the scope ${body.scope}`);
  validateGrant(grant, null);
  const dates = await lockOwner(tx, scope, body.scope, ownerId);
  if (body.scope === 'SUBSCRIPTION') validateGrant(grant, dates);
  const siblings = await findCreditGrantsOf(tx, scope, owner.column, [ownerId]);
  assertGrantRates([grant, ...siblings]);
  return await insertCreditGrant(tx, { ...grant, [owner.column]: ownerId });
}

const OWNERS = {
  PLAN: { column: 'plan_id', table: 'plans', noun: 'Plan' },
  ADDON: { column: 'addon_id', table: 'addons', noun: 'Addon' },
  SUBSCRIPTION: { column: 'subscription_id', table: 'subscriptions', noun: 'Subscription' },
} as const;

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
 */
async function lockOwner(
  tx: Transaction,
  scope: Scope,
  grantScope: CreditGrant['scope'],
  id: string,
): Promise<{ start_date: string; end_date: string | null } | null> {
  const { table, noun } = OWNERS[grantScope];
  const isSubscription = grantScope === 'SUBSCRIPTION';
  const [row] = await tx<{ status: string; start_date: string; end_date: string | null }[]>`
    select status ${isSubscription ? tx`, start_date, end_date` : tx``}
      from ${tx(table)}
     where ${inScope(tx, scope)} and id = ${id}
       for update`;
  if (row === undefined) throw notFound(noun, id);
  if (row.status !== 'published') throw invalidField(OWNERS[grantScope].column, `is ${row.status}`);
  return isSubscription ? row : null;
}
