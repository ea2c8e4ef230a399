import type { Db } from '../../../postgres/client.ts';
import { comparedWallets, type WalletFault } from './wallet-fault-repository.ts';

/** Wallets per statement. */
const PAGE = 1_000;

/**
 * Compares every wallet with its ledger (money 2.2.4, 2.4.4): the balance equals the credits of its blocks
 * less the overdraft, and the sum of its completed transactions; no debit took more from a block than the
 * block had. Reads only. Returns the number of wallets and the wallets with a contradiction.
 */
export async function auditWallets(
  db: Db,
): Promise<{ readonly checked: number; readonly faulty: readonly WalletFault[] }> {
  const faulty: WalletFault[] = [];
  let checked = 0;
  for (let after = ''; ;) {
    const page = await comparedWallets(db, after, PAGE);
    checked += page.length;
    for (const { id, ...row } of page) if (row.faults.length > 0) faulty.push(row);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return { checked, faulty };
    after = last.id;
  }
}
