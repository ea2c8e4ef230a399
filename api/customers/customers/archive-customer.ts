import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { customerAnswer, lockCustomer, updateCustomerRow } from './repository.ts';

/** Archives a customer. It stays readable by id, and its external id can be used again. */
export async function archiveCustomer(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const customer = await lockCustomer(tx, caller.scope, { id });
  if (customer.status === 'archived') return;
  const row = await updateCustomerRow(tx, caller.scope, id, {
    status: 'archived',
    ...changed(deps, caller),
  });
  await writeOutbox(tx, caller.scope, 'customer.deleted', { customer: customerAnswer(row) });
}
