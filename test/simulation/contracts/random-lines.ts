import type { Random } from '../../support/random.ts';
import type { Contract, Fee, LineEdit, Service } from './contract.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { ofOnePeriod } from './random-moves.ts';
import { cadence, randomModel } from './random-offer.ts';
import { cancellation } from './random-traits.ts';

/** Up to five edits of single lines, each after the one before; a cancellation may follow the last one. */
export function withLines(random: Random, plain: Contract): Contract {
  let contract: Contract = {
    ...plain,
    services: plain.services.map((service) => ({ ...service, ...ofOnePeriod(service) })),
  };
  for (let left = 1 + random.below(5); left > 0; left -= 1) {
    const edit = randomEdit(random, contract);
    if (edit !== null) contract = { ...contract, edits: [...contract.edits, edit] };
  }
  if (random.chance(0.6)) return contract;
  const last = lastOf(contract);
  const ends = Array.from({ length: 20 }, () => cancellation(random, contract));
  return {
    ...contract,
    cancelled: ends.find(({ asked, at }) => Math.min(asked, at) > last) ?? null,
  };
}

export const lastOf = ({ edits }: Contract): number =>
  Math.max(0, ...edits.flatMap(({ asked, at }) => [asked, at]));

/** Null: there is no time for it, or no line. */
export function randomEdit(random: Random, contract: Contract): LineEdit | null {
  const { periods } = new Account(contract, []);
  const trial = { start: contract.start, end: periods[0]!.start };
  const isTrial = contract.trial > 0 && random.chance(0.6);
  const lived = isTrial ? [trial] : periods.slice(0, contract.periods);
  const last = Math.max(contract.start, lastOf(contract));
  const period = random.pick(lived.filter(({ end }) => end > last + GRACE_MS));
  if (period === undefined) return null;
  const within = (from: number, to: number) =>
    from + 1 + Math.floor((to - from - 2) * random.next());
  const asked = within(Math.max(period.start, last), period.end);
  const prorated = random.pick([null, null, true, false]);
  /** When it counts from: mostly at once, otherwise dated back or ahead within the period. */
  const from = (earliest: number): number => {
    if (random.chance(0.55)) return asked;
    return random.chance(0.5) ? within(earliest, asked) : within(asked, period.end);
  };
  if (random.chance(0.35)) {
    const number = contract.edits.length;
    return random.chance(0.6)
      ? {
          kind: 'fee',
          asked,
          at: from(period.start),
          prorated,
          fee: newFee(random, contract, number),
        }
      : {
          kind: 'service',
          ...{ asked, at: from(period.start), prorated },
          service: newService(random, contract, number),
        };
  }
  const lines = runningLines(contract);
  if (lines.length === 0) return null;
  const { name, since, canChange } = random.pick(lines);
  const edit = { asked, at: from(Math.max(period.start, since)), prorated, line: name };
  return canChange && random.chance(0.65)
    ? { kind: 'terms', ...edit, model: randomModel(random) }
    : { kind: 'end', ...edit };
}

/** Lines that have not ended, each with its start. The terms of a line with a commitment do not change here. */
export function runningLines({ fees, services, edits }: Contract) {
  const added = edits.flatMap((edit) => {
    if (edit.kind === 'fee') return [{ name: edit.fee.name, since: edit.at, canChange: true }];
    return edit.kind === 'service'
      ? [{ name: edit.service.name, since: edit.at, canChange: true }]
      : [];
  });
  return [
    ...fees.map(({ name }) => ({ name, since: -Infinity, canChange: true })),
    ...services.map(({ name, commitment }) => ({
      ...{ name, since: -Infinity, canChange: commitment === null },
    })),
    ...added,
  ].flatMap((line) => {
    const own = edits.filter((edit) => 'line' in edit && edit.line === line.name);
    if (own.some(({ kind }) => kind === 'end')) return [];
    return [{ ...line, since: Math.max(line.since, ...own.map(({ at }) => at)) }];
  });
}

const newLine = (random: Random, { unit, count }: Contract) => ({
  ...cadence(random, { unit, count }),
  ...{ during: null, model: randomModel(random), later: null },
});

export const newFee = (random: Random, contract: Contract, number: number): Fee => ({
  ...newLine(random, contract),
  name: `fee of edit ${number}`,
  advance: random.chance(0.7),
  quantity: 1 + random.below(4),
});

export const newService = (random: Random, contract: Contract, number: number): Service => ({
  ...newLine(random, contract),
  name: `service of edit ${number}`,
  ...{ max: false, bucket: null, free: null, commitment: null },
});
