import { CHECKOUT_SOURCE } from '../../../../domain/invoicing/gated-invoice.ts';
import { decimal, ZERO } from '../../../../domain/money.ts';
import { waitsForPayment } from '../../../../domain/subscription/pay-first.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { AddonAssociationRow } from '../../../../schemas/addon-association.ts';
import type { CheckoutParams, CheckoutRecord } from '../../../../schemas/checkout.ts';
import type { InvoiceRecord } from '../../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { SettledChange } from '../../proration/settle-change.ts';
import { insertInvoiceLines } from '../../records/invoice-line-repository.ts';
import { insertInvoices } from '../../records/invoice-repository.ts';
import type { BilledAttachment } from './addon-of-closed-periods.ts';
import type { PlannedEnd, ReadEnd } from './ended-period.ts';

/** How a change of a subscription is made. */
export interface How {
  readonly isPreview: boolean;
  /** A checkout session pays for the change, so its invoice uses no credits (money 11.6). */
  readonly isByCheckout?: boolean;
  /** When it was asked for. */
  readonly at: string;
  /** The draft that was paid for it. */
  readonly paid?: InvoiceRecord | null;
  /** The addon that the change attaches, with its invoices of closed periods; null if it has none. */
  readonly billed?: BilledAttachment | null;
  /** The invoice of the period that the change ends, with its usage; null if it ends none. */
  readonly ended?: ReadEnd | null;
  /** Called with the invoice of the period that the change ends, which is not written then. */
  readonly onEnded?: (end: PlannedEnd) => void;
  /** Called with the charges and credits of the change. */
  readonly onSettled?: (settled: SettledChange) => void;
  /** Called with the addon that the change attaches. */
  readonly onAttached?: (association: AddonAssociationRow) => void;
  /** The id of the association that the request was answered with. */
  readonly association_id?: string | null;
}

/** Runs the change inside a savepoint, undoes it, and returns what it was and what it costs. */
export async function triedChange<Result>(
  tx: Transaction,
  work: (inner: Transaction, onSettled: (settled: SettledChange) => void) => Promise<Result>,
): Promise<{ readonly result: Result; readonly settled: SettledChange | null }> {
  const undo = new Error('rollback of a tried change');
  let settled: SettledChange | null = null;
  let done: { readonly value: Result } | null = null;
  await tx
    .savepoint(async (inner) => {
      done = { value: await work(inner, (cost) => void (settled = cost)) };
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return { result: done!.value, settled };
}

/**
 * Stores the invoice of a change as a draft with its session; the change itself is only noted (money 11.8).
 * Null if nothing is due.
 */
export async function openChangeGate(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  checkout: CheckoutParams,
  settled: SettledChange | null,
  of: {
    readonly action: 'add_addon' | 'modify_subscription';
    readonly subscription: SubscriptionRow;
    readonly params: Record<string, unknown>;
  },
): Promise<CheckoutRecord | null> {
  const cost = settled?.invoice ?? null;
  const due = cost === null ? ZERO : decimal(cost.invoice.amount_due);
  if (cost === null || !waitsForPayment(true, due)) return null;
  const invoice: InvoiceRecord = { ...cost.invoice, source_type: CHECKOUT_SOURCE };
  await insertInvoices(tx, [invoice]);
  // The rows of the change do not exist yet, and bill nothing.
  const lines = cost.lines.map((line) => ({
    ...line,
    subscription_line_item_id: null,
    holds_slot: false,
  }));
  await insertInvoiceLines(tx, lines);
  return await deps.checkoutGates.open(tx, deps, caller, checkout, {
    action: of.action,
    invoice,
    target_key: of.subscription.id,
    configuration: { [`${of.action}_params`]: of.params },
  });
}
