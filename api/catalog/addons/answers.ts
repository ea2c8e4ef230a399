import type { Db, Scope } from '../../../postgres/client.ts';
import type { Addon } from '../../../schemas/addon.ts';
import { findCreditGrantsOf } from '../credit-grants/repository.ts';
import { entitlementAnswers, findEntitlementsOf } from '../entitlements/repository.ts';
import { findPricesOfEntities, priceAnswers } from '../prices/repository.ts';
import type { AddonRow } from '../offers/addon-rows.ts';

export interface AddonEmbeds {
  readonly prices?: 'all' | { readonly notEndedAt: string };
  readonly meters?: boolean;
  readonly entitlements?: boolean;
  readonly features?: boolean;
  readonly credit_grants?: boolean;
}

/** Addons as answered, in the same order, with the requested children, newest first. */
export async function addonAnswers(
  db: Db,
  scope: Scope,
  rows: readonly AddonRow[],
  embed: AddonEmbeds,
): Promise<Addon[]> {
  const ids = rows.map((row) => row.id);
  const notEndedAt = typeof embed.prices === 'object' ? embed.prices.notEndedAt : null;
  const [priceRows, entitlementRows, grants] = await Promise.all([
    findPricesOfEntities(db, scope, 'ADDON', embed.prices === undefined ? [] : ids, notEndedAt),
    findEntitlementsOf(db, scope, 'ADDON', embed.entitlements === true ? ids : []),
    findCreditGrantsOf(db, scope, 'addon_id', embed.credit_grants === true ? ids : []),
  ]);
  const [prices, entitlements] = await Promise.all([
    priceAnswers(db, scope, priceRows, { meter: embed.meters === true }),
    entitlementAnswers(db, scope, entitlementRows, {
      feature: embed.features === true,
      meter: embed.meters === true,
    }),
  ]);
  return rows.map((row) => ({
    ...row,
    prices:
      embed.prices === undefined ? null : prices.filter((price) => price.entity_id === row.id),
    entitlements:
      embed.entitlements === true
        ? entitlements.filter((entitlement) => entitlement.entity_id === row.id)
        : null,
    credit_grants:
      embed.credit_grants === true ? grants.filter((grant) => grant.addon_id === row.id) : null,
  }));
}
