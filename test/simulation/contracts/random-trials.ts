import type { Random } from '../../support/random.ts';
import type { Contract, TrialMove } from './contract.ts';
import { roughDays, type Time } from './naive-calendar.ts';
import { GRACE_MS } from './naive-contract.ts';
import { lifeOf } from './naive-life.ts';
import { DAY } from './random-offer.ts';
import { lastOf, randomEdit } from './random-lines.ts';
import { ofOnePeriod } from './random-moves.ts';
import { cancellation, withAddons, withTraits } from './random-traits.ts';

/** A trial of days or dates whose end may move, with addons and edits of lines; it may be cancelled. */
export function withTrial(random: Random, plain: Contract): Contract {
  const days = roughDays(plain.unit, plain.count);
  const trial = 1 + random.below(Math.min(2 * days, 60));
  let contract: Contract = {
    ...plain,
    trial,
    trialOf: random.pick(['days', 'prices', datesOf(random, plain.start, trial)] as const),
    anchor: null,
    end: plain.end === null ? null : plain.end + 2 * trial * DAY,
    off: random.chance(0.6)
      ? { percent: 1 + random.below(100), periods: random.pick([null, 1, 1, 2, 3]) }
      : null,
  };
  if (contract.phase !== null && contract.off !== null && random.chance(0.5)) {
    const off = { percent: contract.off.percent, periods: null };
    contract = { ...contract, off: { ...off, phase: random.pick(['first', 'second'] as const) } };
  }
  for (let left = random.below(4); left > 0; left -= 1) {
    const move = randomMove(random, contract);
    if (move !== null) contract = { ...contract, trialMoves: [...contract.trialMoves, move] };
  }
  // Only future phases are amended.
  if (contract.phase === null) contract = withOffers(random, contract);
  if (random.chance(0.5)) contract = withEnd(random, contract);
  const { cancelled } = contract;
  // What becomes of credits of a contract that is cancelled later is not told here.
  const canGrant = cancelled === null || cancelled.at <= lifeOf(contract).start;
  return canGrant && random.chance(0.6)
    ? withTraits(random, contract, new Set(['grants']))
    : contract;
}

/** Addons and edits of single lines, many of them in the trial; mostly one of both, and often none. */
function withOffers(random: Random, plain: Contract): Contract {
  if (random.chance(0.3)) return plain;
  let contract = random.chance(0.5) ? withAddons(random, plain) : plain;
  if (contract.addons.length > 0 && random.chance(0.7)) return contract;
  contract = {
    ...contract,
    services: contract.services.map((service) => ({ ...service, ...ofOnePeriod(service) })),
  };
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const edit = randomEdit(random, contract);
    if (edit !== null) contract = { ...contract, edits: [...contract.edits, edit] };
  }
  return contract;
}

/** A trial at any time around the start of the contract. */
function datesOf(random: Random, start: number, days: number): Time {
  const before = random.chance(0.3) ? random.below(20 * DAY) : 0;
  return { start: start - before, end: start + 1 + Math.floor(random.next() * days * DAY) };
}

/** Null: there is no time for it. */
function randomMove(random: Random, contract: Contract): TrialMove | null {
  const { start } = lifeOf(contract);
  const last = contract.trialMoves.at(-1)?.asked ?? contract.start;
  const within = (from: number, to: number) =>
    from + 1 + Math.floor((to - from - 2) * random.next());
  const asked = within(last, start);
  const length = start - contract.start;
  const isRound = random.chance(0.3);
  const [earlier, later] = [within(asked, start), start + 1 + Math.floor(length * random.next())];
  const moved = random.pick([asked, earlier, later, later]);
  const end = isRound && moved !== asked ? Math.ceil(moved / DAY) * DAY : moved;
  const isLast = contract.end !== null && end + GRACE_MS >= contract.end;
  return asked <= last || asked >= start || end < asked || isLast ? null : { asked, end };
}

/** Cancelled after the last move of the trial, mostly before its end. */
function withEnd(random: Random, contract: Contract): Contract {
  const last = Math.max(
    contract.trialMoves.at(-1)?.asked ?? 0,
    lastOf(contract),
    ...contract.addons.flatMap(({ attached, detached }) => [attached, detached?.at ?? 0]),
  );
  const { start } = lifeOf(contract);
  const ends = Array.from({ length: 40 }, () => cancellation(random, contract)).filter(
    ({ asked, at }) => Math.min(asked, at) > last,
  );
  const early = random.chance(0.6) ? ends.find(({ asked }) => asked < start) : undefined;
  return { ...contract, cancelled: early ?? ends[0] ?? null };
}
