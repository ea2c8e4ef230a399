import { isoTime } from '../../../platform/clock.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import {
  type ClockRef,
  type Timeline,
  livesBy,
  ownedBy,
} from '../../../postgres/tables/test-clocks.ts';
import type { BillingDeps } from '../../deps.ts';

/**
 * The time after which the gateway is asked again: 30 seconds after the last change of the refund at first, then after
 * as long as it had been open at that change, at most a day. Each question is a change (`touchRefund`); payments have
 * a time of their own for it.
 */
const askAgainAfterLastChange = (db: Db): Fragment => db`
  r.updated_at + greatest(interval '30 seconds', least(r.updated_at - r.created_at, interval '1 day'))`;

/** Refunds whose gateway is asked again, oldest first. */
export async function refundsToReconcile(
  db: Db,
  due: Timeline,
  limit: number,
): Promise<(Scope & { readonly id: string })[]> {
  return await db<(Scope & { id: string })[]>`
    select r.id, r.tenant_id, r.environment_id from refunds r
     where r.refund_status in ('PENDING', 'PROCESSING') and ${askAgainAfterLastChange(db)} < ${due.at}
       and ${livesBy(db, due, db`r.customer_id`)}
     order by r.created_at limit ${limit}`;
}

/** When gateways are asked again about open refunds of the clock's customers. */
export const unansweredRefundTimes = (db: Db, clock: ClockRef): Fragment => db`
  select ${askAgainAfterLastChange(db)} as at from customers c join refunds r on r.customer_id = c.id
   where ${ownedBy(db, clock, 'r')} and r.refund_status in ('PENDING', 'PROCESSING')`;

/** Updates the time of the last check, so that the next page has other refunds. */
export async function touchRefund(
  db: Db,
  deps: Pick<BillingDeps, 'clock'>,
  scope: Scope,
  id: string,
): Promise<void> {
  await db`
    update refunds set updated_at = ${isoTime(deps.clock.now())}
     where ${inScope(db, scope)} and id = ${id}`;
}
