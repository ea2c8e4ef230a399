import { invalidField } from '../../../../domain/errors.ts';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { insertPriceAgain } from '../../../catalog/prices/repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import {
  buildPlanned,
  planInvoices,
  type PlannedInvoice,
} from '../../computing/compute-invoices.ts';
import type { ComputedInvoice } from '../../computing/invoice-target.ts';
import { addonTarget } from '../../computing/targets.ts';
import { invoiceEvent } from '../../computing/write-invoices.ts';
import { insertInvoiceLines } from '../../records/invoice-line-repository.ts';
import { insertInvoices } from '../../records/invoice-repository.ts';
import { closedPeriodsFrom } from '../../records/subscription-invoice-repository.ts';
import { changeSubscription, lineItemsOf } from '../../records/subscription-repository.ts';
import { planAttachment, writeAttachment, type Attachment, type AttachRequest } from './addons.ts';
import { refuseUnchangeable } from './line-item-change.ts';
import { rolledBack } from './rolled-back.ts';

/** An addon that starts in a closed period, with its invoices of the closed periods. Nothing is stored yet. */
export interface BilledAttachment {
  readonly attachment: Attachment;
  /** Oldest first; a period in which the addon has no rows has none. */
  readonly invoices: readonly ComputedInvoice[];
}

/** The invoice of a closed period with the rows of the addon. */
export interface ClosedPeriodDraft {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
}

/**
 * Plans an addon that starts before the running period, and computes one invoice with its rows for each period that is
 * closed since (billing 15.1, 1.6). Null if it starts in the running period or later. Its usage is read outside of
 * any transaction. 400 for what the closed periods are final about: the commitment of the subscription, usage
 * that another line has billed, and a grouped subscription, which has no invoices of its own.
 */
export async function billedAttachment(
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  request: AttachRequest,
): Promise<BilledAttachment | null> {
  const { start_date } = request;
  if (start_date == null || start_date >= subscription.current_period_start) return null;
  refuseUnchangeable(subscription);
  const at = isoTime(deps.clock.now());
  const computing = { at, user_id: caller.user_id };
  const { attachment, planned } = await rolledBack(deps, async (tx) => {
    const attachment = await planAttachment(tx, deps, caller, subscription, request, at);
    await refuseSettledUsage(tx, caller.scope, subscription, attachment.addon.lines);
    await writeAttachment(tx, attachment.addon);
    const behavior = request.proration_behavior ?? subscription.proration_behavior;
    const targets = await targetsOf(tx, deps, caller.scope, subscription, {
      ...{ association_id: attachment.addon.association.id, attached_at: at },
      ...{ start_date, behavior },
    });
    const invoices =
      targets.length === 0 ? [] : await planInvoices(tx, caller.scope, targets, computing);
    return { attachment, planned: invoices };
  });
  return { attachment, invoices: await withSequence(deps, subscription, planned, computing) };
}

async function targetsOf(
  tx: Transaction,
  { settings }: BillingDeps,
  scope: Scope,
  subscription: SubscriptionRow,
  addon: {
    readonly association_id: string;
    readonly attached_at: string;
    readonly start_date: string;
    readonly behavior: ProrationBehavior;
  },
) {
  const { current_period_start: until } = subscription;
  const periods = await closedPeriodsFrom(tx, scope, subscription.id, addon.start_date, until);
  return periods.map((period) =>
    addonTarget(subscription, addon, period, addon.behavior, settings),
  );
}

/** The invoices that have rows, numbered after the last one of the subscription. */
async function withSequence(
  deps: BillingDeps,
  subscription: SubscriptionRow,
  planned: readonly PlannedInvoice[],
  computing: { readonly at: string; readonly user_id: string },
): Promise<ComputedInvoice[]> {
  if (planned.length === 0) return [];
  const computed = (await buildPlanned(deps, planned, computing)).map((computation) => {
    if (!computation.ok) throw computation.error;
    return computation.computed;
  });
  return computed
    .filter(({ lines }) => lines.length > 0)
    .map((one, index) => {
      const billing_sequence = subscription.last_billing_sequence + index + 1;
      return { ...one, invoice: { ...one.invoice, billing_sequence } };
    });
}

async function refuseSettledUsage(
  tx: Transaction,
  scope: Scope,
  subscription: SubscriptionRow,
  lines: readonly BilledLine[],
): Promise<void> {
  const earliest = `must not be before the running period, which began at ${subscription.current_period_start}`;
  if (subscription.merges_from !== null)
    throw invalidField(
      'start_date',
      `${earliest}: the invoices of a grouped subscription are its parent's`,
    );
  const meters = new Set(lines.flatMap(({ meter_id }) => meter_id ?? []));
  if (meters.size === 0) return;
  if (subscription.commitment_amount !== null)
    throw invalidField(
      'start_date',
      `${earliest}: the commitment of the closed periods is settled, and the addon bills usage`,
    );
  const others = await lineItemsOf(tx, scope, [subscription.id]);
  const billed = others.find(({ meter_id }) => meter_id !== null && meters.has(meter_id));
  if (billed !== undefined)
    throw invalidField(
      'start_date',
      `${earliest}: line item ${billed.id} has billed usage of the same meter`,
    );
}

/**
 * Writes the addon, its prices and its drafts of the closed periods. The drafts wait for late usage like those
 * of a subscription that is created with a start in the past.
 */
export async function writeBilledAttachment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { attachment, invoices }: BilledAttachment,
): Promise<readonly ClosedPeriodDraft[]> {
  const { addon } = attachment;
  for (const { price } of addon.lines)
    if (price.entity_type === 'SUBSCRIPTION') await insertPriceAgain(tx, price);
  await writeAttachment(tx, addon);
  if (invoices.length === 0) return [];
  await insertInvoices(
    tx,
    invoices.map(({ invoice }) => invoice),
  );
  await insertInvoiceLines(
    tx,
    invoices.flatMap(({ lines }) => lines),
  );
  const last = invoices.at(-1)!.invoice.billing_sequence!;
  await changeSubscription(tx, caller.scope, subscription.id, {
    last_billing_sequence: last,
    ...changed(deps, caller),
  });
  await writeOutboxEvents(
    tx,
    invoices.map(({ invoice, lines, sources }) =>
      invoiceEvent('invoice.update', caller.scope, {
        invoice,
        lines,
        subscription,
        customer: sources.customers.get(invoice.customer_id) ?? null,
      }),
    ),
  );
  return invoices;
}
