import type { BillingWorld } from '../../support/billing-world.ts';
import type { Contract } from './contract.ts';
import { changeAsPreviewed, type Note, type Step } from './contract-steps.ts';
import { iso } from './naive-calendar.ts';
import { lifeOf } from './naive-life.ts';

/** The end of the trial is moved, as its preview said. Nothing is billed at an end that has moved away. */
export function trialSteps(
  world: BillingWorld,
  contract: Contract,
  { id }: { id: string },
  note: Note,
): Step[] {
  const { trialMoves } = contract;
  return trialMoves.flatMap(({ asked, end }, index): Step[] => {
    const before = lifeOf({ ...contract, trialMoves: trialMoves.slice(0, index) }).start;
    const trial_end_params =
      end === asked
        ? { action: 'immediate' }
        : { action: 'scheduled_date', new_trial_end: iso(end) };
    const body = { type: 'trial_end', trial_end_params };
    const path = `/subscriptions/${id}/modify`;
    return [
      { at: asked, run: () => changeAsPreviewed(world, path, body, 'end of the trial', note) },
      ...(end === before ? [] : [{ at: before, run: () => world.close() }]),
    ];
  });
}
