import type { Transaction } from '../../../postgres/client.ts';
import type { SubscriptionPhase } from '../../../schemas/subscription-phase.ts';
import type { SubscriptionPhaseRequest } from '../../../schemas/subscription-requests.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import type { PhaseOfCoupons } from './attach-coupons.ts';
import { selectedPrices } from './selected-prices.ts';
import type { LineItemOwner } from './line-item.ts';
import type { PhaseOfLines } from './phase-line-items.ts';

/** A phase that is not stored yet, with the inputs of its line items and coupons. */
export type NewPhase = PhaseOfLines & PhaseOfCoupons & { readonly phase: SubscriptionPhase };

/**
 * The phases of a request, each with the prices that the plan sells during the phase. The caller has checked
 * that the phases are contiguous. Writes nothing. `placeOf` returns the path of a phase in the request.
 */
export async function newPhases(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  requests: readonly SubscriptionPhaseRequest[],
  at: string,
  placeOf: (index: number) => string = (index) => `phases[${index}].`,
): Promise<NewPhase[]> {
  const phases: NewPhase[] = [];
  for (const [index, request] of requests.entries()) {
    const start_date = request.start_date;
    const end_date = request.end_date ?? owner.selection.end;
    const selection = { ...owner.selection, start: start_date, end: end_date };
    const { selected } = await selectedPrices(tx, caller, owner.plan.id, selection, at);
    const phase: SubscriptionPhase = {
      ...newRecord(deps, caller, 'phase'),
      subscription_id: owner.subscription_id,
      start_date,
      end_date: request.end_date ?? null,
      metadata: request.metadata ?? {},
    };
    const within = placeOf(index);
    phases.push({ id: phase.id, phase, request, within, selected, start_date, end_date });
  }
  return phases;
}
