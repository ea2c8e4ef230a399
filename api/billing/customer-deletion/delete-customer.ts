import { BillingError, type ErrorDetail } from '../../../domain/errors.ts';
import { decimal } from '../../../domain/money.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { archiveCustomer } from '../../customers/customers/archive-customer.ts';
import { lockCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { lockWalletsOfCustomer, type WalletRow } from '../credits/wallet-repository.ts';
import { closeWallet } from '../wallets/end-wallet.ts';
import { moveFreeze } from '../wallets/freeze-wallet.ts';
import { obligationsOf, type Obligations } from './obligation-repository.ts';

/**
 * Archives a customer. Empty wallets are closed. Those with a balance are frozen: nothing is spent or bought any more,
 * and what they hold stays on record. Refuses with 400 `invalid_operation` while a subscription runs, an invoice is
 * open, or a payment or refund is in progress; the details name them (billing 13.1). A customer who is archived already
 * does not change.
 */
export async function deleteCustomer(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  // New subscriptions and one-off invoices wait for this lock.
  const { status } = await lockCustomer(tx, caller.scope, { id });
  if (status === 'archived') return;
  await assertNothingOpen(tx, caller.scope, id);
  // Every credit and every purchase of credits locks its wallet. So neither can come after these locks.
  const wallets = await lockWalletsOfCustomer(tx, caller.scope, id);
  await assertNothingOpen(tx, caller.scope, id);
  for (const wallet of wallets) {
    if (isEmpty(wallet)) await closeWallet(tx, deps, caller, wallet.id);
    else if (wallet.wallet_status === 'active')
      await moveFreeze(tx, caller.scope, wallet.id, 'freeze', changed(deps, caller));
  }
  await archiveCustomer(tx, deps, caller, id);
}

async function assertNothingOpen(tx: Transaction, scope: Scope, id: string): Promise<void> {
  const details = refusals(await obligationsOf(tx, scope, id));
  if (details.length > 0)
    throw new BillingError(
      'invalid',
      'invalid_operation',
      `Customer ${id} cannot be deleted. ${details.map(({ message }) => message).join(' ')}`,
      details,
    );
}

const isEmpty = ({ credit_balance, overdraft }: WalletRow): boolean =>
  decimal(credit_balance).isZero() && decimal(overdraft).isZero();

/** What to do about each kind of obligation. */
const REMEDIES: Record<keyof Obligations, string> = {
  subscriptions: 'Cancel the subscriptions that have not ended',
  invoices: 'Finalize, collect or void the open invoices',
  payments: 'Wait for the payments in progress, or delete them',
  refunds: 'Wait for the refunds in progress',
};

const refusals = (of: Obligations): ErrorDetail[] =>
  (Object.keys(REMEDIES) as (keyof Obligations)[])
    .filter((path) => of[path].length > 0)
    .map((path) => ({
      path,
      code: 'invalid_state',
      message: `${REMEDIES[path]}: ${of[path].join(', ')}.`,
    }));
