import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { Erasure, EraseCustomerBody } from '../../../schemas/erasure.ts';
import {
  customerAnswer,
  lockCustomer,
  updateCustomerRow,
} from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { eraseRejected, erasuresOf, insertErasure, overwriteSnapshots } from './repository.ts';

/**
 * Erases a customer's personal data (tenancy S31). Immediately: name, mail, contacts, address and
 * metadata of the record, and its snapshots in notifications. By a job: the properties of the events accepted
 * until now. What bills stays: ids, times, metered usage, invoices. While an erasure is in progress another
 * request returns it. Subscriptions continue: to stop charging a customer, cancel them. 404 for an unknown
 * customer.
 */
export async function eraseCustomer(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller & { readonly request_id: string },
  customerId: string,
  { reason }: EraseCustomerBody,
): Promise<Erasure> {
  const { scope } = caller;
  const { external_id } = await lockCustomer(tx, scope, { id: customerId });
  const row = await updateCustomerRow(tx, scope, customerId, {
    ...NOBODY,
    ...changed(deps, caller),
  });
  const customer = customerAnswer(row);
  // Notifications contain snapshots of the customer and of rejected events; undelivered ones would still send them.
  await overwriteSnapshots(tx, scope, customer);
  await eraseRejected(tx, scope, customer.external_id, null);
  await writeOutbox(tx, scope, 'customer.updated', { customer });

  const [newest] = await erasuresOf(tx, scope, customerId);
  if (newest?.state === 'requested') return newest;
  const erasure: Erasure = {
    ...newRecord(deps, caller, 'erasure'),
    customer_id: customerId,
    external_customer_id: external_id,
    reason,
    request_id: caller.request_id,
    state: 'requested',
    events_until: isoTime(deps.clock.now()),
    erased_at: null,
    erased_events: null,
    completed_at: null,
  };
  await insertErasure(tx, erasure);
  return erasure;
}

const NOBODY = {
  name: 'Erased customer',
  email: null,
  contact: null,
  contact_persons: [],
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_state: null,
  address_postal_code: null,
  address_country: null,
  metadata: {},
};
