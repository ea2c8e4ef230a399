import type { Random } from '../../random.ts';
import type { Fault } from './fault.ts';

/**
 * Chooses the next fault as from a shuffled deck, in which each fault is as often as its weight says. So none is
 * missing in a run that is long enough for one deck, and their order is still random.
 */
export function dealFaults(all: readonly Fault[], random: Random): () => Fault {
  const deck: Fault[] = [];
  return () => {
    if (deck.length === 0)
      deck.push(...all.flatMap((fault) => new Array<Fault>(fault.weight).fill(fault)));
    return deck.splice(random.integer(0, deck.length - 1), 1)[0]!;
  };
}
