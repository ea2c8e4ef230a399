import type { Random } from '../../support/random.ts';
import type { Contract, PlanMove } from './contract.ts';
import { whenPauseIsAsked } from './contract-steps.ts';
import type { Time } from './naive-calendar.ts';
import { Account } from './naive-contract.ts';
import { withPlanQuotas } from './random-plan-quotas.ts';
import { withPauses } from './random-traits.ts';

/** Plans that make usage free in different ways, one after the other, with pauses between and after them. */
export function withPausedQuotas(random: Random, plain: Contract): Contract {
  const paused = withPauses(random, plain);
  const account = new Account(paused, []);
  const times = paused.pauses.map((pause, index): Time => ({
    start: whenPauseIsAsked(pause, paused.pauses[index - 1], account),
    end: pause.end,
  }));
  const isBeside = (from: number, to: number) =>
    times.every(({ start, end }) => to < start || end < from);
  // No change of the plan is asked for, or waits, while a pause is planned or runs.
  const canMove = ({ supersedes, asked, at, restarts }: PlanMove) =>
    isBeside(supersedes ?? asked, at) && !(restarts && isBeforeEnd(paused, at));
  const contract = withPlanQuotas(random, paused, 0, canMove);
  const { cancelled } = contract;
  const last = Math.max(0, ...times.map(({ end }) => end));
  const canEnd = cancelled === null || Math.min(cancelled.asked, cancelled.at) > last;
  return { ...contract, cancelled: canEnd ? cancelled : null };
}

/** A pause is planned for a later end of a period, which a new anchor would move. */
const isBeforeEnd = ({ pauses }: Contract, at: number): boolean =>
  pauses.some(({ mode, start }) => mode === 'period_end' && at < start);
