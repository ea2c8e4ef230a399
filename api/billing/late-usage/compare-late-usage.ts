import { lateRows, type LateRow, type SettledShare } from '../../../domain/invoicing/late-usage.ts';
import type { WatermarkVector } from '../../../domain/metering/position.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { computeInvoices, onlyComputed } from '../computing/compute-invoices.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import { targetOf } from '../computing/targets.ts';

/** A final invoice, the subscription it bills, and its rows. */
export interface FinalInvoice {
  readonly invoice: InvoiceRecord;
  readonly subscription: SubscriptionRow;
  readonly lines: readonly InvoiceLineRecord[];
}

/**
 * Rates a final invoice twice from the same facts: with the usage that was billed, and with the usage below
 * `now`. Writes nothing. Only usage makes a difference (billing 17.6).
 */
export async function compareLateUsage(
  deps: Pick<BillingDeps, 'pool' | 'ids' | 'clock' | 'usageReader'>,
  { scope, user_id }: Caller,
  { invoice, subscription, lines }: FinalInvoice,
  now: WatermarkVector,
  settled: readonly SettledShare[],
): Promise<LateRow[]> {
  const target = targetOf({ ...invoice, invoice_status: 'DRAFT' }, subscription);
  const computing = { at: isoTime(deps.clock.now()), user_id };
  const rowsBelow = async (at: WatermarkVector) =>
    onlyComputed(
      await computeInvoices(deps, deps.pool, scope, [target], { ...computing, bound: { at } }),
    ).lines;
  const billed = await rowsBelow(readStoredWatermarks(invoice.usage_watermarks!));
  return lateRows({ billed, now: await rowsBelow(now) }, lines, settled);
}
