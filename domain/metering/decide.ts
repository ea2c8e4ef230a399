import type { Position } from './position.ts';

/**
 * Which copies of a batch are canonical (metering 4, step 1): a copy is canonical when neither the index
 * nor the batch has a smaller position for its slot. Testing only "seen before" would be wrong: a replay
 * finds its own rows in the index and would treat them as earlier copies.
 *
 * The copies come from one log partition in ascending position, `slots[i]` at `positionOf(i)`.
 * `indexed` has the smallest position of every slot of the batch that is in the index. `positionOf` is
 * called only for these slots, because computing positions costs more than everything else here.
 */
export function decide(
  slots: readonly string[],
  positionOf: (copy: number) => Position,
  indexed: ReadonlyMap<string, Position>,
): boolean[] {
  const met = new Set<string>();
  return slots.map((slot, copy) => {
    if (met.has(slot)) return false;
    met.add(slot);
    const smallest = indexed.get(slot);
    return smallest === undefined || smallest >= positionOf(copy);
  });
}
