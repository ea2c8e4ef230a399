import assert from 'node:assert/strict';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps, GatedInvoice } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { dueTermsOf } from '../computing/invoice-of-rows.ts';
import { invoiceEvent, issueInvoices } from '../computing/write-invoices.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { lockInvoice, updateInvoices } from '../records/invoice-repository.ts';
import { lockSubscription } from '../records/subscription-repository.ts';
import { completePlanChange } from '../subscriptions/changes/change-plan.ts';
import { completeModification } from '../subscriptions/changes/modify.ts';
import { beginPaidSubscription } from '../subscriptions/begin-paid.ts';

/**
 * Does what a paid session was opened for (money 11.11): the draft is issued with its number, and the request
 * that waited is carried out. Refuses what is not possible any more; the caller then returns the money.
 */
export async function completeGate(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  session: CheckoutRecord,
  { invoice, subscription }: GatedInvoice,
): Promise<GatedInvoice> {
  switch (session.action) {
    case 'pay_invoice':
    case 'wallet_topup':
      return { invoice: await issuePaid(tx, deps, caller, invoice, subscription), subscription };
    case 'create_subscription': {
      assert(subscription !== null);
      const begun = await beginPaidSubscription(tx, deps, caller, subscription);
      return { invoice: await issuePaid(tx, deps, caller, invoice, begun), subscription: begun };
    }
    case 'modify_subscription':
    case 'add_addon':
      assert(subscription !== null);
      return await makeChange(tx, deps, caller, session, invoice, subscription);
  }
}

async function makeChange(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { action, configuration, created_at }: CheckoutRecord,
  invoice: InvoiceRecord,
  subscription: SubscriptionRow,
): Promise<GatedInvoice> {
  const { change, body, association_id } = configuration[`${action}_params`] as {
    readonly change: 'plan' | 'modify';
    readonly body: unknown;
    readonly association_id?: string;
  };
  const complete = change === 'plan' ? completePlanChange : completeModification;
  const how = { at: created_at, paid: invoice, association_id: association_id ?? null };
  await complete(tx, deps, caller, subscription, body, how);
  return {
    invoice: await lockInvoice(tx, caller.scope, invoice.id),
    subscription: await lockSubscription(tx, caller.scope, subscription.id),
  };
}

async function issuePaid(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  subscription: SubscriptionRow | null,
): Promise<InvoiceRecord> {
  const { scope, user_id } = caller;
  const lines = await linesOfInvoices(tx, scope, [invoice.id]);
  const customer = await getCustomer(tx, scope, invoice.customer_id);
  const terms = dueTermsOf(customer, subscription);
  const by = { at: isoTime(deps.clock.now()), user_id };
  const [issued] = await issueInvoices(tx, deps, scope, [{ invoice, lines, terms }], by);
  await updateInvoices(tx, [issued!.invoice]);
  const concerned = { ...issued!, customer, subscription };
  await writeOutboxEvents(tx, [invoiceEvent('invoice.update.finalized', scope, concerned)]);
  return issued!.invoice;
}
