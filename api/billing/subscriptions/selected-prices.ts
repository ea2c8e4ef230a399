import { invalidField } from '../../../domain/errors.ts';
import {
  selectPlanPrices,
  type PriceSelection,
} from '../../../domain/subscription/select-prices.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { OverrideLineItemRequest } from '../../../schemas/subscription-requests.ts';
import { findPricesOfEntities, type PriceRow } from '../../catalog/prices/repository.ts';
import { settlementOf } from '../computing/settlement-currency.ts';
import type { Caller } from '../../conventions/record.ts';

/** The plan's prices that a new subscription takes: fixed prices before usage prices, each oldest first. */
export async function selectedPrices(
  tx: Transaction,
  caller: Caller,
  planId: string,
  selection: PriceSelection,
  askedAt: string,
): Promise<{ readonly selected: PriceRow[]; readonly sequence: number }> {
  const settlement = await settlementOf(tx, caller.scope, selection.currency);
  const default_currency = settlement?.currency ?? null;
  const newestFirst = await findPricesOfEntities(tx, caller.scope, 'PLAN', [planId], null);
  const prices = newestFirst.toReversed();
  const fixedFirst = prices.toSorted(
    (left, right) => Number(left.type === 'USAGE') - Number(right.type === 'USAGE'),
  );
  return {
    selected: selectPlanPrices(fixedFirst, { ...selection, default_currency }, askedAt),
    sequence: Math.max(0, ...prices.map((price) => price.sequence)),
  };
}

/** Refuses overrides of prices that the subscription does not take from the plan or addon. */
export function assertSelected(
  overrides: readonly OverrideLineItemRequest[],
  selected: readonly PriceRow[],
  within: string,
  from: 'plan' | 'addon' = 'plan',
): void {
  overrides.forEach(({ price_id }, index) => {
    if (!selected.some(({ id }) => id === price_id))
      throw invalidField(
        `${within}override_line_items[${index}].price_id`,
        `${price_id} is not a price that the subscription takes from the ${from}`,
      );
  });
}

/** Refuses ids that are named twice; `path` is that of the second one. */
export function refuseTwice(ids: readonly string[], path: (index: number) => string): void {
  ids.forEach((id, index) => {
    if (ids.indexOf(id) !== index) throw invalidField(path(index), `${id} is named twice`);
  });
}
