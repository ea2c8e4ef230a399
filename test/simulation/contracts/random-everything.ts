import type { Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import { withMoves } from './random-moves.ts';
import { withQuantity } from './random-traits.ts';

/** The plan and a quantity change under taxes, a coupon and a commitment; much of the usage arrives late. */
export function withEverything(random: Random, plain: Contract): Contract {
  const { off, taxes } = plain;
  const contract = withMoves(
    random,
    {
      ...plain,
      off: off ?? { percent: 1 + random.below(100), periods: random.pick([null, 1, 2, 3]) },
      taxes: taxes.length > 0 ? taxes : [{ percent: '19', inclusive: random.chance(0.5) }],
    },
    0,
  );
  const moves = contract.moves.map((move) => ({
    ...move,
    isEarlierForm: move.supersedes === null && random.chance(0.4),
  }));
  const moved = { ...contract, moves };
  return random.chance(0.8) ? withQuantity(random, moved) : moved;
}
