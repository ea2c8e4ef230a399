import type { Random } from '../../support/random.ts';
import type { Contract, Kind } from './contract.ts';
import { randomContract } from './random-contract.ts';
import { DAY } from './random-offer.ts';

/** A contract that is made as a draft first. */
export interface Drafted {
  readonly contract: Contract;
  /** When the draft is made, and the start that it names. */
  readonly made: number;
  readonly start: number;
  /** When it is activated, or sold at once: at the start of the contract, or later. */
  readonly activated: number;
  /** Addons of the request, by their place in the contract. */
  readonly addons: readonly {
    readonly index: number;
    readonly quantity: number;
    readonly once: boolean;
  }[];
  readonly coupons: readonly {
    readonly percent: number;
    readonly periods: number | null;
    /** Of which line; null: of the subscription. */
    readonly line: number | null;
  }[];
}

const KINDS: readonly Kind[] = [
  'plain', 'ends', 'trials', 'trials', 'families', 'units', 'grants', 'grants', 'addons', 'amended', 'windows', 'mixed', 'everything',
  'rates', 'plans', 'lines',
]; // prettier-ignore

export function randomDraft(random: Random): Drafted {
  const drawn = randomContract(random, random.pick(KINDS));
  // A draft has no phases.
  const off = drawn.off?.phase === undefined ? drawn.off : null;
  // The trial of a draft that is activated begins with it.
  const { trialOf: tried } = drawn;
  const trialOf = typeof tried === 'object' ? { ...tried, start: drawn.start } : tried;
  const contract = { ...drawn, phase: null, off, trialOf };
  const { start } = contract;
  const shift = () => Math.floor((random.next() - 0.6) * 40 * DAY);
  const first = random.chance(0.2) ? start : start + shift();
  const isLate = random.chance(0.3);
  const activated = isLate ? start + Math.floor(random.next() * 70 * DAY) : start;
  const made = Math.min(activated - 1, random.chance(0.5) ? first : start + shift());
  return {
    contract,
    ...{ made, start: endsBefore(contract, first) ? start : first, activated },
    addons: contract.addons
      .map((_, index) => ({
        ...{ index, quantity: 1 + random.below(3) },
        once: random.chance(0.2),
      }))
      .filter(() => random.chance(0.5)),
    coupons: Array.from({ length: random.below(3) }, () => ({
      percent: 1 + random.below(60),
      periods: random.pick([null, 1, 2, 3]),
      line: random.chance(0.5) ? random.below(contract.fees.length) : null,
    })),
  };
}

/** A draft does not begin after an instant that the contract names. */
const endsBefore = ({ end, anchor, trialOf }: Contract, start: number): boolean =>
  [end, anchor, typeof trialOf === 'object' ? trialOf.end : null].some(
    (at) => at !== null && at <= start,
  );
