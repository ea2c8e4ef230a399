import type { Random } from '../../support/random.ts';
import { Decimal } from '../../../domain/money.ts';
import type { Contract, LineEdit } from './contract.ts';
import type { Time } from './naive-calendar.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { ofOnePeriod } from './random-moves.ts';
import { DAY, randomModel } from './random-offer.ts';

/**
 * Prices of the plan get up to six new versions in mid period, and one sync after the last one of each period brings
 * them to the subscription (billing 2.8). One of the lines may have a coupon, which may be removed and added again.
 */
export function withVersions(random: Random, plain: Contract): Contract {
  const services = plain.services.map((service) => ({ ...service, ...ofOnePeriod(service) }));
  const contract = { ...plain, services };
  const { periods } = new Account(contract, []);
  const within = (from: number, to: number) =>
    from + 1 + Math.floor((to - from - 2) * random.next());
  const lines = [
    ...contract.fees.map(({ name, advance }) => ({ name, advance })),
    ...services
      .filter(({ commitment }) => commitment === null)
      .map(({ name }) => ({ name, advance: false })),
  ];
  const chosen = periods.slice(0, plain.periods).filter(() => random.chance(0.5));
  const edits = chosen.flatMap(({ start, end }): LineEdit[] => {
    // Usage of the period before is final then.
    const from = start + GRACE_MS;
    if (from + 10 >= end) return [];
    const times = Array.from({ length: 1 + random.below(3) }, () => within(from, end - 5));
    const synced = within(Math.max(...times), end);
    return times
      .sort((left, right) => left - right)
      .map((at): LineEdit => {
        const { name: line, advance } = random.pick(lines);
        // Advances of the running period are invoiced: they change with the next one.
        const when = advance ? synced : at;
        return {
          ...{ kind: 'terms', line, asked: when, at: when, prorated: false },
          ...{ model: randomModel(random), version: { at, synced } },
        };
      });
  });
  const edited = lines.filter(({ name }) => edits.some((edit) => lineOfEdit(edit) === name));
  const line = random.chance(0.7) ? random.pick(edited.length === 0 ? lines : edited) : null;
  const times = edits.flatMap((edit) => (lineOfEdit(edit) === line?.name ? [edit.at] : []));
  const away = times.length === 0 ? null : timeAround(random, random.pick(times), plain.start);
  // No line is left to add it to after the end.
  const isLate = away === null || (plain.end !== null && away.end >= plain.end);
  const off = line && {
    ...{ line: line.name, percent: 25 },
    ...(random.chance(0.6) ? { amount: randomAmount(random, plain) } : {}),
    // Which version of an advance a coupon is of is not told here, nor the parts of a row that is grouped.
    ...(line.advance || plain.grouped || isLate ? {} : { away }),
  };
  return {
    ...contract,
    edits: edits.sort((left, right) => left.asked - right.asked),
    lineOff: contract.commitment === null ? off : null,
  };
}

/** An amount in the currency of the contract. */
const randomAmount = (random: Random, { currency }: Contract): string =>
  currency === 'jpy'
    ? String(1 + random.below(300))
    : new Decimal(1 + random.below(300)).div(100).toFixed();

/** Up to some days, most of them with the instant. */
function timeAround(random: Random, at: number, from: number): Time {
  const [before, after] = [4, 8].map((days) => Math.ceil(random.next() * days * DAY));
  const start = Math.max(from, at - before!) + 1;
  return { start, end: start + 1 + after! };
}

const lineOfEdit = (edit: LineEdit): string | null => (edit.kind === 'terms' ? edit.line : null);
