import { moveWallet } from '../../../domain/states/wallet.ts';
import { isoTime, type Clock } from '../../../platform/clock.ts';
import type { Pool } from '../../../postgres/client.ts';
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
  return await pool.begin(async (tx) => {
    const { wallet_status } = await lockWallet(tx, owner, walletId);
    const wallet = await updateWalletRow(tx, owner, walletId, {
      wallet_status: moveWallet(wallet_status, trigger),
      updated_at: isoTime(clock.now()),
      updated_by: 'operator',
    });
    await writeOutbox(tx, owner, 'wallet.updated', { wallet: walletSnapshot(wallet) });
    return wallet;
  });
}
