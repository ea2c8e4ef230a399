import { assertReturnAddress } from '../../../domain/access/return-address.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';

const FIELDS = ['success_url', 'failure_url', 'cancel_url'] as const;

/** Addresses to which a payment page leads back. */
export type ReturnAddresses = { readonly [Field in (typeof FIELDS)[number]]?: string | null };

/** Refuses addresses outside the origins that the tenant allows in `checkout_config` (money 15.5). */
export async function assertReturnAddresses(
  db: Db,
  scope: Scope,
  addresses: ReturnAddresses,
): Promise<void> {
  if (!FIELDS.some((field) => addresses[field])) return;
  const { return_origins } = await readSetting(db, scope, 'checkout_config');
  for (const field of FIELDS) {
    const address = addresses[field];
    if (address) assertReturnAddress(field, address, return_origins);
  }
}
