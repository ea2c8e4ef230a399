import type { Db, Scope } from '../../../postgres/client.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import { findCreditGrantsOf } from '../credit-grants/repository.ts';
import { entitlementAnswers, findEntitlementsOf } from '../entitlements/repository.ts';
import { findPricesOfEntities, priceAnswers } from '../prices/repository.ts';

/** The parts of plans or addons that an answer embeds. */
export interface OfferEmbeds {
  /** `all` includes ended versions; an instant leaves out versions that ended by then. */
  readonly prices?: 'all' | { readonly notEndedAt: string };
  readonly meters?: boolean;
  readonly entitlements?: boolean;
  readonly features?: boolean;
  /** The plan itself, inside its entitlements. */
  readonly plans?: boolean;
  readonly credit_grants?: boolean;
}

/** Reads the requested parts of plans or addons, newest first. Returns those of one id; null if not requested. */
export async function offerParts(
  db: Db,
  scope: Scope,
  entityType: 'PLAN' | 'ADDON',
  ids: readonly string[],
  embed: OfferEmbeds,
) {
  const grantColumn = entityType === 'PLAN' ? 'plan_id' : 'addon_id';
  const notEndedAt = typeof embed.prices === 'object' ? embed.prices.notEndedAt : null;
  const [priceRows, entitlementRows, grants] = await Promise.all([
    findPricesOfEntities(db, scope, entityType, embed.prices === undefined ? [] : ids, notEndedAt),
    findEntitlementsOf(db, scope, entityType, embed.entitlements === true ? ids : []),
    findCreditGrantsOf(db, scope, grantColumn, embed.credit_grants === true ? ids : []),
  ]);
  const [prices, entitlements] = await Promise.all([
    priceAnswers(db, scope, priceRows, { meter: embed.meters === true }),
    entitlementAnswers(db, scope, entitlementRows, {
      feature: embed.features === true,
      meter: embed.meters === true,
      plan: embed.plans === true,
    }),
  ]);
  const isOf = (id: string) => (part: { readonly entity_id: string }) => part.entity_id === id;
  return (id: string) => ({
    prices: embed.prices === undefined ? null : prices.filter(isOf(id)),
    entitlements: embed.entitlements === true ? entitlements.filter(isOf(id)) : null,
    credit_grants:
      embed.credit_grants === true
        ? grants.filter((grant: CreditGrant) => grant[grantColumn] === id)
        : null,
  });
}
