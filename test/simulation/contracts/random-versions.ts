import type { Random } from '../../support/random.ts';
import type { Contract, LineEdit } from './contract.ts';
import { Account, GRACE_MS } from './naive-contract.ts';
import { ofOnePeriod } from './random-moves.ts';
import { randomModel } from './random-offer.ts';

/**
 * Prices of the plan get up to six new versions in mid period, and one sync after the last one of each period brings
 * them to the subscription (billing 2.8). One of the lines may have a coupon.
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
  const off = random.chance(0.5) ? { line: random.pick(lines).name, percent: 25 } : null;
  return {
    ...contract,
    edits: edits.sort((left, right) => left.asked - right.asked),
    lineOff: contract.commitment === null ? off : null,
  };
}
