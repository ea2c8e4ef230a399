import type { Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import { Account } from './naive-contract.ts';
import { NOTHING_MORE } from './random-contract.ts';
import { endsOnItsDay, ofOwn, plainParent } from './random-group.ts';
import { withMoves } from './random-moves.ts';
import { withAddons } from './random-traits.ts';

/** A parent, then one to three children with its boundaries; what happens to them is drawn as they run. */
export function randomGroupPreviews(random: Random): Contract[] {
  const drawn = plainParent(random);
  const members = random.chance(0.3) ? [{ joins: null, leaves: null }] : [];
  const parent = withOffers(random, { ...drawn, periods: Math.min(drawn.periods, 4), members });
  const { periods } = new Account(parent, []);
  const children = Array.from({ length: 1 + random.below(3) }, (_, index): Contract => {
    const { start, end } = random.pick(periods.slice(0, parent.periods));
    const at = start + Math.floor((end - start) * random.next());
    const isLater = random.chance(0.4) && !endsOnItsDay(parent.zone, at, periods);
    return withOffers(random, {
      ...parent,
      ...NOTHING_MORE,
      anchor: parent.cycle === 'calendar' ? null : (parent.anchor ?? parent.start),
      start: isLater ? at : parent.start,
      ...ofOwn(random, parent, ` of child ${index + 1}`),
    });
  });
  return [parent, ...children];
}

/** Addons that may be attached, and plans to which it may change, if it stands alone. */
function withOffers(random: Random, plain: Contract): Contract {
  const offered = withMoves(random, withAddons(random, plain), 0);
  return { ...offered, kind: 'group previews', services: plain.services };
}
