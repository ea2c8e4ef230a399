import type { Db, Scope } from '../../../postgres/client.ts';
import type { Addon } from '../../../schemas/addon.ts';
import { offerParts, type OfferEmbeds } from '../offer-parts/offer-parts.ts';
import type { AddonRow } from '../offers/addon-repository.ts';

/** Addons as answered, in the same order, with the requested parts, newest first. */
export async function addonAnswers(
  db: Db,
  scope: Scope,
  rows: readonly AddonRow[],
  embed: OfferEmbeds,
): Promise<Addon[]> {
  const ids = rows.map((row) => row.id);
  const partsOf = await offerParts(db, scope, 'ADDON', ids, embed);
  return rows.map((row) => ({ ...row, ...partsOf(row.id) }));
}
