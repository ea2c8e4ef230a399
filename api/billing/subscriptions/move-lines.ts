import { laterOf } from '../../../domain/time/instant.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findVersionsOf, updatePriceRow } from '../../catalog/prices/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { withPrices, type BilledLine } from '../computing/billing-sources.ts';
import { changeLineItem } from '../records/line-item-repository.ts';
import { lineItemsOf } from '../records/subscription-repository.ts';

/**
 * Lines that begin with a draft, or before its new start, begin with the subscription, and so do overridden prices that
 * begin with the draft (billing 10.5). No line begins before its price, and no overridden price before the price that
 * it overrides. `begun`: the draft with its new dates.
 */
export async function moveLines(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: SubscriptionRow,
  begun: SubscriptionRow,
): Promise<void> {
  const { scope } = caller;
  const lines = await withPrices(tx, scope, await lineItemsOf(tx, scope, [draft.id]));
  const starts = await movedPrices(tx, scope, lines, draft, begun);
  const by = changed(deps, caller);
  for (const [id, start_date] of starts) await updatePriceRow(tx, scope, id, { start_date, ...by });
  for (const line of lines) {
    const priced = starts.get(line.price_id) ?? line.price.start_date;
    await changeLineItem(tx, scope, line.id, { ...movedWindow(line, priced, draft, begun), ...by });
  }
}

function movedWindow(
  line: BilledLine,
  priced: string | null,
  draft: SubscriptionRow,
  begun: SubscriptionRow,
) {
  const first = begun.start_date;
  const isMoved = line.start_date <= draft.start_date || line.start_date < first;
  const start_date = isMoved ? laterOf(first, priced) : line.start_date;
  const end_date = line.end_date === null ? null : laterOf(line.end_date, start_date);
  return { start_date, end_date };
}

/** The new starts of overridden prices that begin with the draft, by their ids. */
async function movedPrices(
  db: Db,
  scope: Scope,
  lines: readonly BilledLine[],
  draft: SubscriptionRow,
  begun: SubscriptionRow,
): Promise<Map<string, string>> {
  const overridden = lines
    .map(({ price }) => price)
    .filter(
      ({ id, entity_type, parent_price_id, start_date }) =>
        entity_type === 'SUBSCRIPTION' && parent_price_id !== id && start_date === draft.start_date,
    );
  const versions = await findVersionsOf(
    db,
    scope,
    overridden.map(({ parent_price_id }) => parent_price_id),
  );
  return new Map(
    overridden.map(({ id, parent_price_id }) => {
      const sold = versions.find(
        (version) =>
          version.parent_price_id === parent_price_id &&
          (version.start_date ?? '') <= draft.start_date &&
          (version.end_date === null || version.end_date > draft.start_date),
      );
      return [id, laterOf(begun.start_date, sold?.start_date ?? null)];
    }),
  );
}
