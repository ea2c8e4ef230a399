import type { Position } from './position.ts';

/**
 * Which copies of a batch are canonical (metering 4, step 1): those for whose slot neither the index
 * nor the batch holds a smaller position. "Seen before" would not do: a replay finds its own rows in
 * the index and would take them for earlier copies.
 *
 * The copies come from one log partition in ascending position, `slots[i]` at `positionOf(i)`.
 * `indexed` holds the smallest position of every slot of the batch that the index knows. Positions
 * are asked for only where the index knows a slot, because making them costs more than all the rest.
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
