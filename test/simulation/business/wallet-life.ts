import { freezeWallet } from '../../../api/billing/wallets/freeze-wallet.ts';
import type { Desk } from './desk.ts';

/** Ends the customer's prepaid wallet: its credits are taken, and nothing that waits for it arrives (money 2.12). */
export async function terminateWallet(desk: Desk): Promise<void> {
  const { customer, ledger } = desk;
  if (customer.wallet_id === null) return;
  const body = await desk.command(
    'terminate wallet',
    `/wallets/${customer.wallet_id}/terminate`,
    {},
  );
  if (body !== null) ledger.endWallet(customer);
}

/** The operator stops the wallet for a time, or ends this: it accepts credits and pays nothing (money 21.1). */
export async function freeze({ business, customer }: Desk): Promise<void> {
  if (customer.wallet_id === null) return;
  const { pool, clock } = business.world.api;
  customer.book.isFrozen = !customer.book.isFrozen;
  const trigger = customer.book.isFrozen ? 'freeze' : 'unfreeze';
  await freezeWallet({ pool, clock }, customer.wallet_id, trigger);
  business.count(trigger);
}
