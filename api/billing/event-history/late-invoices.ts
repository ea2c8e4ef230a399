import { isReadBelow, type Position } from '../../../domain/metering/position.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { LateEvent } from '../../../schemas/event.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import { lateUsageSettlements } from '../records/late-usage-repository.ts';
import { finalInvoicesAt } from './repository.ts';

/**
 * The final invoices of the subscriptions whose period holds the event and whose usage was read before the stream
 * had processed it, each with the first settlement of late usage that includes it (billing 17.6).
 */
export async function lateInvoices(
  db: Db,
  scope: Scope,
  event: { readonly partition: number; readonly position: Position; readonly at: string },
  subscriptionIds: readonly string[],
): Promise<LateEvent[]> {
  const invoices = await finalInvoicesAt(db, scope, subscriptionIds, event.at);
  const late = invoices.filter(
    ({ usage_watermarks }) => !isReadBelow(readStoredWatermarks(usage_watermarks), event),
  );
  const ids = late.map(({ id }) => id);
  const settlements = ids.length === 0 ? [] : await lateUsageSettlements(db, scope, ids);
  return late.map(({ id, invoice_number, subscription_id, invoice_status }) => {
    const settlement = settlements.find(
      (one) =>
        one.invoice_id === id && isReadBelow(readStoredWatermarks(one.usage_watermarks), event),
    );
    return {
      invoice_id: id,
      invoice_number,
      subscription_id,
      invoice_status,
      settled_as: settlement?.settled_as ?? null,
      document_id: settlement?.document_id ?? null,
    };
  });
}
