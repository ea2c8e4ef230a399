import type { Random } from '../../support/random.ts';
import type { Contract, LineEdit, Pause } from './contract.ts';
import type { Time } from './naive-calendar.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { isAdvance, lineOf, runningAt } from './naive-resumptions.ts';
import { lastOf, newFee, newService, runningLines } from './random-lines.ts';
import { ofOnePeriod } from './random-moves.ts';
import { randomModel } from './random-offer.ts';
import { cancellation, withPauses } from './random-traits.ts';

/** Edits of single lines before, in and after pauses; most of them are in a pause, or take effect in one. */
export function withPausedLines(random: Random, plain: Contract): Contract {
  let contract = withPauses(random, {
    ...plain,
    services: plain.services.map((service) => ({ ...service, ...ofOnePeriod(service) })),
  });
  for (let left = 2 + random.below(5); left > 0; left -= 1) {
    const edit = randomEdit(random, contract);
    if (edit !== null) contract = { ...contract, edits: [...contract.edits, edit] };
  }
  return contract;
}

/** Pauses with planned resumptions, and a cancellation of any type before, after or in the last one. */
export function withPausedEnd(random: Random, plain: Contract): Contract {
  const paused = withPausedLines(random, plain);
  const pauses = paused.pauses.map((pause) => ({
    ...pause,
    planned:
      pause.byHand && pause.end - pause.start > 10 && random.chance(0.6)
        ? within(random, pause.start, pause.end)
        : null,
  }));
  const contract = withLongTerms(plain, withEndOfPauses(random, { ...paused, pauses }));
  const { cancelled, commitment } = contract;
  // What a planned end makes of a term with pauses is not told here, nor what an end in a period of several months.
  const isTold =
    commitment === null ||
    cancelled === null ||
    (cancelled.type === 'immediate' && contract.unit === 'MONTHLY' && contract.count === 1);
  return isTold ? contract : { ...contract, commitment: { ...commitment, duration: null } };
}

/** Lines that nothing edits keep commitments that are longer than a period. */
function withLongTerms(plain: Contract, contract: Contract): Contract {
  const edited = new Set(contract.edits.map(lineOf));
  const services = contract.services.map((service) => {
    const { commitment } = plain.services.find(({ name }) => name === service.name)!;
    return edited.has(service.name) ? service : { ...service, commitment };
  });
  return { ...contract, services };
}

function withEndOfPauses(random: Random, contract: Contract): Contract {
  const { pauses } = contract;
  const last = pauses.at(-1);
  // A pause that begins with the end of a period is rare, and what its end bills is a rule of its own (billing 12.8).
  const share = last?.mode === 'period_end' ? 0.8 : 0.3;
  if (last !== undefined && last.start > lastOf(contract) && random.chance(share))
    return withEndInPause(random, contract, last);
  if (last !== undefined && random.chance(0.5)) return withPlannedEnd(random, contract, last);
  const from = Math.max(lastOf(contract), ...pauses.map(({ end }) => end + GRACE_MS));
  const { periods } = new Account(contract, []);
  const ends = Array.from({ length: 40 }, () => cancellation(random, contract));
  return {
    ...contract,
    cancelled:
      ends.find(
        ({ asked, at }) =>
          Math.min(asked, at) > from &&
          periods.some(({ start, end }) => start < asked && asked < end),
      ) ?? null,
  };
}

/**
 * The end is planned before a pause or in it: at the end of the period, which the pause may move, or at a date in the
 * pause or after it.
 */
function withPlannedEnd(random: Random, edited: Contract, pause: Pause): Contract {
  const { periods } = new Account(edited, []);
  const period = periods.find(({ start, end }) => start < pause.start && pause.start < end);
  if (period === undefined) return edited;
  const isCalendar = edited.cycle === 'calendar';
  const unmoved = isCalendar ? period.end : period.end - (pause.end - pause.start);
  const isWithin = random.chance(0.5);
  const earlier = edited.pauses.at(-2)?.end ?? 0;
  const from = isWithin ? pause.start : Math.max(period.start, earlier);
  const until = isWithin ? Math.min(pause.end, unmoved) : pause.start;
  if (until - from < 10) return edited;
  const asked = within(random, from, until);
  const contract = {
    ...edited,
    edits: edited.edits.filter((edit) => Math.max(edit.asked, edit.at) < asked),
  };
  const isOfPeriod = random.chance(0.5);
  // A pause that is over before the end of the period moves it (billing 12.4).
  const ofPeriod = unmoved <= pause.end ? unmoved : period.end;
  // On a calendar the period of the pause ends in it.
  const last = isCalendar ? Math.min(pause.end, period.end) : pause.end;
  const dated = random.chance(0.4)
    ? within(random, Math.max(asked, pause.start), last)
    : within(random, pause.end, pause.end + 2 * (period.end - period.start));
  const at = isOfPeriod ? ofPeriod : dated;
  // The account tells of its periods only.
  const end = Math.min(periods.at(-1)!.end, contract.end ?? Infinity);
  // A period that the contract ends does not tell where it ended before the pause.
  const isUntold = isOfPeriod && !isCalendar && period.end === edited.end;
  if (isUntold || at <= asked || at === pause.end || at >= end) return edited;
  return {
    ...contract,
    pauses:
      at < pause.end
        ? [
            ...contract.pauses.slice(0, -1),
            { ...pause, end: at, byHand: true, planned: null, isLast: true },
          ]
        : contract.pauses,
    cancelled: {
      ...{ type: isOfPeriod ? 'end_of_period' : 'scheduled_date', asked, at, invoiced: true },
      prorated: random.pick([null, null, true, false]),
    },
  };
}

/** Cancelled in a pause, which ends with it. */
function withEndInPause(random: Random, contract: Contract, pause: Pause): Contract {
  const { periods } = new Account(contract, []);
  const { end } = periods.find(
    (period) => period.start <= pause.start && pause.start <= period.end,
  )!;
  const isCalendar = contract.cycle === 'calendar' && pause.start < end;
  // The account tells of its periods only, and the pause moves them.
  const unmoved = new Account({ ...contract, pauses: contract.pauses.slice(0, -1) }, []).periods;
  const until = Math.min(pause.end, isCalendar ? end : unmoved.at(-1)!.end);
  if (until - pause.start < 10) return contract;
  const at = within(random, pause.start, until);
  return {
    ...contract,
    pauses: [
      ...contract.pauses.slice(0, -1),
      { ...pause, end: at, byHand: true, planned: null, isLast: true },
    ],
    cancelled: {
      ...{ type: 'immediate', asked: at, at, invoiced: random.chance(0.8) },
      prorated: random.pick([null, null, true, false]),
    },
  };
}

const within = (random: Random, from: number, to: number): number =>
  from + 1 + Math.floor((to - from - 2) * random.next());

/** Null: there is no time for it, no line, or it is refused. */
function randomEdit(random: Random, contract: Contract): LineEdit | null {
  const last = Math.max(contract.start, lastOf(contract)) + GRACE_MS;
  const time = timeOfEdit(random, contract, last);
  if (time === null || time.end - time.start < 10) return null;
  const asked = within(random, time.start, time.end);
  const running = runningAt(contract, asked);
  if (running === undefined) return null;
  const pause = contract.pauses.find(({ start, end }) => start <= asked && asked < end) ?? null;
  const prorated = random.pick([null, null, true, false]);
  const lines = runningLines(contract);
  const isNew = lines.length === 0 || random.chance(0.45);
  const line = isNew ? null : random.pick(lines);
  const isAtBoundary = pause !== null && pause.start >= running.end;
  const earliest = Math.max(running.start, line?.since ?? 0, isAtBoundary ? pause.start : 0);
  const at = effectOf(random, asked, { start: earliest, end: running.end });
  if (at === null || (contract.end !== null && at >= contract.end - GRACE_MS)) return null;
  const edit = editOf(random, contract, line, { asked, at, prorated });
  return inPause(contract, edit, pause, running);
}

/** In a pause, before one, or at any time. */
function timeOfEdit(random: Random, contract: Contract, last: number): Time | null {
  const { periods } = new Account(contract, []);
  const lived = periods.slice(0, contract.periods);
  const pauses = contract.pauses.filter(({ start }) => start < lived.at(-1)!.end);
  const pick = <Value>(values: readonly Value[]) =>
    values.length === 0 ? null : random.pick(values);
  if (random.chance(0.5)) {
    const pause = pick(pauses.filter(({ end }) => end > last));
    if (pause !== null) return { start: Math.max(pause.start, last), end: pause.end };
  }
  if (random.chance(0.6)) {
    const pause = pick(pauses.filter(({ start }) => start > last));
    const period = lived.findLast(({ start }) => pause !== null && start < pause.start);
    if (pause !== null && period !== undefined)
      return { start: Math.max(period.start, last), end: pause.start };
  }
  const period = pick(lived.filter(({ end }) => end > last));
  return period && { start: Math.max(period.start, last), end: period.end };
}

/** At once, dated back, or ahead in the running period or in the next one. Null: there is no time for it. */
function effectOf(random: Random, asked: number, running: Time): number | null {
  switch (random.below(6)) {
    case 0:
      return asked - running.start > 10 ? within(random, running.start, asked) : null;
    case 1:
    case 2:
      return running.end - asked > 10 ? within(random, asked, running.end) : null;
    case 3:
    case 4: {
      const from = Math.max(asked, running.end);
      return within(random, from, from + Math.max(running.end - running.start, 20));
    }
    default:
      return Math.max(asked, running.start);
  }
}

function editOf(
  random: Random,
  contract: Contract,
  line: ReturnType<typeof runningLines>[number] | null,
  time: Pick<LineEdit, 'asked' | 'at' | 'prorated'>,
): LineEdit {
  const number = contract.edits.length;
  if (line === null)
    return random.chance(0.7)
      ? { kind: 'fee', ...time, fee: newFee(random, contract, number) }
      : { kind: 'service', ...time, service: newService(random, contract, number) };
  return line.canChange && random.chance(0.6)
    ? { kind: 'terms', ...time, line: line.name, model: randomModel(random) }
    : { kind: 'end', ...time, line: line.name };
}

/** The edit as it is accepted in a pause: nothing is charged at once in it, and an advance ends now (billing 12.3). */
function inPause(
  contract: Contract,
  edit: LineEdit,
  pause: Pause | null,
  running: Time,
): LineEdit | null {
  const isProrated = edit.prorated ?? contract.prorated;
  if (pause === null || !isProrated || edit.at >= running.end || !isAdvance(contract, edit))
    return edit;
  if (edit.kind !== 'end') return { ...edit, prorated: false };
  const isLate = edit.at > edit.asked && contract.cycle === 'anniversary' && edit.at > pause.start;
  return isLate ? null : edit;
}
