import type { Transaction } from '../../../postgres/client.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { deleteConnection } from '../../tenancy/connections/change-connection.ts';
import { getConnection, lockConnection } from '../../tenancy/connections/repository.ts';
import { closeGateway, moreIsOpen } from './close-gateway.ts';
import { openPaymentsOf, type OpenPayment } from './open-work-repository.ts';

/** How often pages are closed before the caller is asked to repeat the request. */
const ROUNDS = 3;
const PAGE = 100;

/**
 * Deletes a connection after its open pages are closed (money 11.16). A page may be opened while the others are being
 * closed: it is closed in a further round. The lock of the connection keeps out the payments that come after that.
 * 409 if pages are opened faster than they are closed.
 */
export async function endConnection(deps: BillingDeps, caller: Caller, id: string): Promise<void> {
  await getConnection(deps.pool, caller.scope, id);
  for (let round = 0; round < ROUNDS; round += 1) {
    const wasTried = await closeGateway(deps, caller, id);
    const isDeleted = await deps.pool.begin(async (tx) => {
      await lockConnection(tx, caller.scope, id);
      if (await hasUntried(tx, caller, id, wasTried)) return false;
      await deleteConnection(tx, deps, caller, id);
      return true;
    });
    if (isDeleted) return;
  }
  throw moreIsOpen();
}

/** Whether a payment was opened over the connection since its pages were closed. */
async function hasUntried(
  tx: Transaction,
  { scope }: Caller,
  connectionId: string,
  wasTried: (payment: OpenPayment) => boolean,
): Promise<boolean> {
  let after = '';
  for (;;) {
    const rows = await openPaymentsOf(tx, scope, connectionId, { after, limit: PAGE });
    if (rows.some((payment) => !wasTried(payment))) return true;
    if (rows.length < PAGE) return false;
    after = rows.at(-1)!.id;
  }
}
