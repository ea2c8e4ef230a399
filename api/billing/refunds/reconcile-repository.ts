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

/** Environments with refunds whose gateway is asked again. Spans tenants: for the job only. */
export async function scopesWithUnansweredRefunds(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct r.tenant_id, r.environment_id from refunds r
     where r.refund_status in ('PENDING', 'PROCESSING') and ${askAgainAfterLastChange(db)} < ${due.at}
       and ${livesBy(db, due, db`r.customer_id`)}
     order by 1, 2`;
}

/** A page of the environment's refunds whose gateway is asked again, with ids greater than `after`. */
export async function refundsToReconcile(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const { due, after, limit } = page;
  const rows = await db<{ id: string }[]>`
    select r.id from refunds r
     where ${inScope(db, scope, 'r')} and r.refund_status in ('PENDING', 'PROCESSING')
       and ${askAgainAfterLastChange(db)} < ${due.at} and r.id > ${after}
       and ${livesBy(db, due, db`r.customer_id`)}
     order by r.id limit ${limit}`;
  return rows.map(({ id }) => id);
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
