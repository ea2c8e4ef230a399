import { Decimal } from '../../../domain/money.ts';
import type { Random } from '../../support/random.ts';
import type { Contract, Trait } from './contract.ts';
import { withTraits } from './random-traits.ts';

/** A wallet whose credits are not worth 1, with grants and what changes give back; they have its rate. */
export function withRates(random: Random, plain: Contract): Contract {
  const creditRate = random.pick(['0.5', '0.01', '2.5', '3', '0.007']);
  const credits = new Decimal(1 + random.below(90_000)).div(100).div(creditRate).toDecimalPlaces(2);
  const traits = (['grants', 'addons', 'pauses'] as const).filter(() => random.chance(0.6));
  return withTraits(
    random,
    { ...plain, creditRate, credits: credits.times(creditRate).toNumber() },
    new Set<Trait>(traits),
  );
}
