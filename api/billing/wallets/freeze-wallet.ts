import { moveWallet } from '../../../domain/states/wallet.ts';
import { isoTime, type Clock } from '../../../platform/clock.ts';
import type { Pool, Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import { walletSnapshot } from '../credits/wallet-notification.ts';
import {
  findScopeOfWallet,
  lockWallet,
  updateWalletRow,
  type WalletRow,
} from '../credits/wallet-repository.ts';

/**
 * Freezes a wallet, or ends the freeze (money 21.1). A frozen wallet accepts credits and refuses every debit: the
 * operator stops it while a payment or its owner is in doubt. Null if there is no such wallet. Unfreezing is
 * refused if the customer has another active wallet of the currency and type by then.
 */
export async function freezeWallet(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  walletId: string,
  trigger: 'freeze' | 'unfreeze',
): Promise<WalletRow | null> {
  const owner = await findScopeOfWallet(pool, walletId);
  if (owner === null) return null;
  const change = { updated_at: isoTime(clock.now()), updated_by: 'operator' };
  return await pool.begin((tx) => moveFreeze(tx, owner, walletId, trigger, change));
}

/** Locks the wallet and freezes it, or ends the freeze, in the caller's transaction. */
export async function moveFreeze(
  tx: Transaction,
  scope: Scope,
  walletId: string,
  trigger: 'freeze' | 'unfreeze',
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<WalletRow> {
  const { wallet_status } = await lockWallet(tx, scope, walletId);
  const wallet = await updateWalletRow(tx, scope, walletId, {
    wallet_status: moveWallet(wallet_status, trigger),
    ...change,
  });
  await writeOutbox(tx, scope, 'wallet.updated', { wallet: walletSnapshot(wallet) });
  return wallet;
}
