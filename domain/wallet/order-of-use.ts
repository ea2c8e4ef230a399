import { byText } from '../text-order.ts';

/** What decides the place of a block of credits. Times are canonical: their order as text is that of time. */
interface Placed {
  readonly id: string;
  /** Null: after all blocks that have one. */
  readonly priority: number | null;
  /** Null: never. */
  readonly expiry_date: string | null;
  readonly created_at: string;
}

/**
 * The order of use: priority, then the sooner expiry, then the older, then the id (money 2.5 step 5).
 */
export function inOrderOfUse<Block extends Placed>(blocks: readonly Block[]): Block[] {
  return [...blocks].sort(
    (left, right) =>
      nullsLast(left.priority, right.priority, (one, other) => one - other) ||
      nullsLast(left.expiry_date, right.expiry_date, byText) ||
      byText(left.created_at, right.created_at) ||
      byText(left.id, right.id),
  );
}

function nullsLast<T>(left: T | null, right: T | null, compare: (one: T, other: T) => number) {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return compare(left, right);
}
