import type { Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import { withEnd } from './random-traits.ts';

/**
 * Prices in a price unit or in a custom currency, most of them with commitments, and a coupon of one of the lines; such
 * a contract is cancelled with each proration behavior.
 */
export function withUnitEnd(random: Random, plain: Contract): Contract {
  const currency = random.pick(['usd', 'jpy', 'crx'] as const);
  // How a commitment of all usage is converted, or shared by its lines, is not told here.
  const commitment = currency === 'crx' ? null : plain.commitment;
  const lines = commitment === null ? [...plain.fees, ...plain.services] : plain.fees;
  return withEnd(random, {
    ...plain,
    currency,
    inUnits: currency !== 'crx',
    commitment,
    off: random.chance(0.5) ? plain.off : { percent: 1 + random.below(60), periods: null },
    lineOff: random.chance(0.8)
      ? { line: random.pick(lines).name, percent: 1 + random.below(70) }
      : null,
  });
}
