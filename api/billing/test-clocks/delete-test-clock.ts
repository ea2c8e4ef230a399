import { BillingError } from '../../../domain/errors.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { TestClock } from '../../../schemas/test-clock.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { archiveCustomer } from '../../customers/customers/archive-customer.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { changeTestClock, lockTestClock } from '../../customers/test-clocks/repository.ts';
import { writePauses } from '../records/pause-repository.ts';
import { endSchedulesOf } from '../records/schedule-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import {
  endLineItemsOf,
  lockSubscription,
  replaceSubscriptions,
} from '../records/subscription-repository.ts';
import { endedAt } from '../subscriptions/plan-advance.ts';
import { customersOfClock, subscriptionsToCancel } from './clock-customer-repository.ts';

/** Customers per transaction. */
const PAGE_CUSTOMERS = 50;

/**
 * Deletes the clock: cancels the subscriptions of its customers at the clock's time, without invoices, and
 * archives the customers; then it never moves again (billing 22.4). May be repeated. 409 `clock_advancing` while an
 * advance runs.
 */
export async function deleteTestClock(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { scope } = caller;
  for (;;) {
    const isDone = await deps.pool.begin(async (tx) => {
      const clock = await lockTestClock(tx, scope, id);
      if (clock.status === 'archived') return true;
      if (clock.status === 'advancing') throw advancing();
      const own = { ...deps, clock: { now: () => Date.parse(clock.now) } };
      const page = await customersOfClock(tx, scope, id, PAGE_CUSTOMERS);
      for (const customerId of page) {
        await cancelAll(tx, scope, clock, customerId, caller);
        await archiveCustomer(tx, own, caller, customerId);
      }
      if (page.length === PAGE_CUSTOMERS) return false;
      await changeTestClock(tx, scope, id, {
        status: 'archived',
        advancing_to: null,
        ...changed(deps, caller),
      });
      return true;
    });
    if (isDone) return;
  }
}

const advancing = () =>
  new BillingError(
    'conflict',
    'clock_advancing',
    'The test clock is advancing. Delete it when its status is ready or failed.',
  );

/** Cancels the customer's subscriptions at the clock's time, or at their start if that is later. */
async function cancelAll(
  tx: Transaction,
  scope: Scope,
  { now: at }: TestClock,
  customerId: string,
  { user_id }: Caller,
): Promise<void> {
  for (const id of await subscriptionsToCancel(tx, scope, customerId)) {
    const before = await lockSubscription(tx, scope, id);
    const end = before.start_date > at ? before.start_date : at;
    const after = { ...endedAt(before, end), updated_at: at, updated_by: user_id };
    await replaceSubscriptions(tx, scope, [after]);
    await writePauses(tx, scope, [{ before, after }]);
    await endLineItemsOf(tx, scope, [after]);
    await endSchedulesOf(tx, scope, [id], { at, user_id });
    const customer = await getCustomer(tx, scope, customerId);
    const subscription = subscriptionSnapshot(after, customer);
    await writeOutbox(tx, scope, 'subscription.cancelled', { subscription });
  }
}
