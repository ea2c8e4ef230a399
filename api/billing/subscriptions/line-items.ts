import { refuseUsageRatedTwice } from '../../../domain/pricing/filter-values.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type {
  CreateSubscriptionBody,
  OverrideLineItemRequest,
} from '../../../schemas/subscription-requests.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { selectorOf } from '../computing/usage-selectors.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import type { PriceRow } from '../../catalog/prices/repository.ts';
import type { Caller } from '../../conventions/record.ts';
import { withCommitments, type SubscriptionCommitting } from './line-commitments.ts';
import { type LineItemOwner, lineItem, bucketsOf, withMeterNames } from './line-item.ts';
import { assertSelected } from './selected-prices.ts';
import { overriddenPrice } from './overridden-price.ts';
import { ownLineItem } from './own-line-item.ts';

/** A part of a request that makes line items: the subscription's, or that of one of its phases. */
export type LinesRequest = Pick<
  CreateSubscriptionBody,
  'line_items' | 'override_line_items' | 'line_item_commitments'
>;

/**
 * The line items of a new subscription: the selected prices of the plan, with other terms where overridden,
 * then its own prices (billing 10.1). Lists and invoices keep this order. Overridden terms become a
 * price of the subscription and replace the plan's price.
 */
export async function newLineItems(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  selected: readonly PriceRow[],
  body: LinesRequest & SubscriptionCommitting,
): Promise<BilledLine[]> {
  const lines = await requestedLines(tx, deps, caller, owner, selected, { body, within: '' });
  const meters = await bucketsOf(tx, caller, lines);
  const commitments = body.line_item_commitments;
  return await checkedLines(
    tx,
    caller,
    withCommitments(lines, commitments, { meters, subscription: body }),
  );
}

/** The lines with the names of their meters. Refuses lines that rate the same usage twice (billing 2.5). */
export async function checkedLines(
  tx: Transaction,
  caller: Caller,
  lines: readonly BilledLine[],
): Promise<BilledLine[]> {
  const named = await withMeterNames(tx, caller, lines);
  refuseUsageRatedTwice(named.filter(({ meter_id }) => meter_id !== null).map(selectorOf));
  return named;
}

/** The plan's prices with their overrides, then the own ones of the request. */
export async function requestedLines(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  selected: readonly PriceRow[],
  {
    body,
    within,
    inherited = [],
  }: {
    readonly body: LinesRequest;
    readonly within: string;
    /** Overrides of the subscription that hold in its phase. */
    readonly inherited?: readonly OverrideLineItemRequest[];
  },
): Promise<BilledLine[]> {
  const overrides = body.override_line_items ?? [];
  assertSelected(overrides, selected, within);

  const lines: BilledLine[] = [];
  for (const planPrice of selected) {
    const isOf = ({ price_id }: OverrideLineItemRequest) => price_id === planPrice.id;
    const index = overrides.findIndex(isOf);
    const override = overrides[index] ?? inherited.find(isOf);
    const place = `${within}override_line_items[${index}]`;
    const price =
      override === undefined
        ? planPrice
        : await overriddenPrice(tx, deps, caller, owner, planPrice, override).catch(
            (error: unknown) => {
              throw below(error, place);
            },
          );
    const path = override === undefined ? 'quantity' : `${place}.quantity`;
    const draft = {
      quantity: override?.quantity,
      entity: { type: 'plan', id: owner.plan.id },
    } as const;
    lines.push(lineItem(deps, caller, owner, price, { ...draft, path }));
  }
  for (const [index, request] of (body.line_items ?? []).entries())
    lines.push(
      await ownLineItem(tx, deps, caller, owner, request, `${within}line_items[${index}]`),
    );
  return lines;
}
