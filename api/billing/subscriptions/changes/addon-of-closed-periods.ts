import { invalidField } from '../../../../domain/errors.ts';
import { closedPeriods } from '../../../../domain/subscription/schedule.ts';
import { serviceWindow } from '../../../../domain/time/charge-cells.ts';
import type { Period } from '../../../../domain/time/instant.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { insertPriceAgain } from '../../../catalog/prices/repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
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
import { changeSubscription, lineItemsOf } from '../../records/subscription-repository.ts';
import type { NewAddon } from '../addons.ts';
import { planAttachment, writeAttachment, type Attachment, type AttachRequest } from './addons.ts';
import { refuseUnchangeable } from './line-item-change.ts';
import { rolledBack } from '../../../conventions/rolled-back.ts';

/** Closed periods that one request bills, in one transaction: ten years of months. */
const PERIODS_MAX = 120;

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
 * any transaction. 400 if the addon has usage that the closed periods have settled, by the commitment of the
 * subscription or by another line, for a grouped subscription, which has no invoices of its own, and for more than
 * 120 closed periods.
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
    await refuseSettledPeriods(tx, caller.scope, subscription, attachment.addon);
    await writeAttachment(tx, attachment.addon);
    const addon = { association_id: attachment.addon.association.id, attached_at: at };
    const behavior = request.proration_behavior ?? subscription.proration_behavior;
    const targets = limited(closedPeriods(subscription, start_date)).map((period) =>
      addonTarget(subscription, addon, period, behavior, deps.settings),
    );
    const invoices =
      targets.length === 0 ? [] : await planInvoices(tx, caller.scope, targets, computing);
    return { attachment, planned: invoices };
  });
  return { attachment, invoices: await withSequence(deps, subscription, planned, computing) };
}

function limited(periods: readonly Period[]): readonly Period[] {
  if (periods.length > PERIODS_MAX)
    throw invalidField(
      'start_date',
      `must not be before ${periods.at(-PERIODS_MAX)!.start}: at most ${PERIODS_MAX} closed periods are billed at once`,
    );
  return periods;
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

async function refuseSettledPeriods(
  tx: Transaction,
  scope: Scope,
  subscription: SubscriptionRow,
  { association, lines }: NewAddon,
): Promise<void> {
  const { current_period_start: until } = subscription;
  const refused = (reason: string) =>
    invalidField(
      'start_date',
      `must not be before the running period, which began at ${until}: ${reason}`,
    );
  if (subscription.merges_from !== null)
    throw refused('the rows of a grouped subscription are on the invoices of its parent');
  const meters = new Set(lines.flatMap(({ meter_id }) => meter_id ?? []));
  if (meters.size === 0) return;
  if (subscription.commitment_amount !== null)
    throw refused('the commitment of the closed periods is settled, and the addon has usage');
  const others = await lineItemsOf(tx, scope, [subscription.id]);
  const closed = { start: association.start_date, end: until };
  const settled = others.find(
    (line) =>
      line.meter_id !== null && meters.has(line.meter_id) && serviceWindow(closed, line) !== null,
  );
  if (settled !== undefined)
    throw refused(`line item ${settled.id} has billed usage of the same meter`);
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
