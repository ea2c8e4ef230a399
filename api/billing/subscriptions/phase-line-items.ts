import type { PhaseWindow } from '../../../domain/subscription/phases.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import type { PriceRow } from '../../catalog/prices/repository.ts';
import type { Caller } from '../../conventions/record.ts';
import { withCommitments, type SubscriptionCommitting } from './line-commitments.ts';
import { lineOfPrice } from './line-of-price.ts';
import { type LineItemOwner, bucketsOf } from './line-item.ts';
import { type LinesRequest, checkedLines, requestedLines } from './line-items.ts';
import { assertSelected } from './selected-prices.ts';
import { ownLineItem } from './own-line-item.ts';

/** A new phase and the prices of the plan that it takes. */
export interface PhaseOfLines extends PhaseWindow {
  readonly id: string;
  readonly request: LinesRequest;
  /** Path of the phase in the request, followed by a dot. */
  readonly within: string;
  readonly selected: readonly PriceRow[];
}

/**
 * The line items of phases, each in the time of its phase (billing 11). Overrides and commitments of the
 * subscription hold in every phase that has none of its own for the price; lines of the subscription are in
 * no phase. A one-time price of the plan is in the first phase with paid time, and in another one only if overridden
 * there.
 */
export async function newPhaseLines(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  phases: readonly PhaseOfLines[],
  body: LinesRequest & SubscriptionCommitting & { readonly trial_end: string | null },
): Promise<BilledLine[]> {
  const all: BilledLine[] = [];
  assertSelected(
    body.override_line_items ?? [],
    phases.flatMap(({ selected }) => selected),
    '',
  );
  const { trial_end } = body;
  const isPaid = ({ end_date }: PhaseOfLines) =>
    trial_end === null || end_date === null || end_date > trial_end;
  const first = phases.findIndex(isPaid);
  for (const [index, phase] of phases.entries()) {
    const { request, within, start_date: start, end_date: end } = phase;
    const own = request.override_line_items ?? [];
    assertSelected(own, phase.selected, within);
    const inPhase: LineItemOwner = {
      ...owner,
      subscription_phase_id: phase.id,
      selection: { ...owner.selection, start, end },
    };
    const selected = phase.selected.filter(
      (price) =>
        index === first ||
        price.billing_period !== 'ONETIME' ||
        own.some(({ price_id }) => price_id === price.id),
    );
    const inherited = (body.override_line_items ?? []).filter(
      ({ price_id }) => !own.some((override) => override.price_id === price_id),
    );
    const lines = await requestedLines(tx, deps, caller, inPhase, selected, {
      body: request,
      within,
      inherited,
    });
    const isHere = (priceId: string) =>
      lines.some(({ price }) => price.id === priceId || price.parent_price_id === priceId);
    const common = Object.entries(body.line_item_commitments ?? {}).filter(
      ([priceId]) => isHere(priceId) && request.line_item_commitments?.[priceId] === undefined,
    );
    const context = { meters: await bucketsOf(tx, caller, lines), subscription: body };
    const committed = withCommitments(lines, request.line_item_commitments, { ...context, within });
    all.push(...withCommitments(committed, Object.fromEntries(common), context));
  }
  for (const [index, request] of (body.line_items ?? []).entries())
    all.push(await ownLineItem(tx, deps, caller, owner, request, `line_items[${index}]`));
  for (const priceId of Object.keys(body.line_item_commitments ?? {}))
    if (!all.some(({ price }) => price.id === priceId || price.parent_price_id === priceId))
      lineOfPrice(all, priceId, `line_item_commitments.${priceId}`);
  return await checkedLines(tx, caller, all);
}
