import type { Answer, JsonObject } from './compare.ts';

/** A case has a word that its operation does not know. The runner reports it; it never passes. */
export class UnsupportedCase extends Error {}

/** A word of a case that its operation must know. */
export function oneOf<Word extends string | number>(
  field: string,
  value: unknown,
  known: readonly Word[],
): Word {
  const found = known.find((word) => word === value);
  if (found === undefined) throw new UnsupportedCase(`${field}: ${JSON.stringify(value)}`);
  return found;
}

/**
 * Answers the question of one case by calling `domain/`: the mapping is thin and has no arithmetic of
 * its own. A refusal is the `BillingError` that `domain/` throws; the runner turns it into `error: true`,
 * `accepted: false` and `valid: false`. `expected` is for choosing which figures to return (a case may
 * ask for buckets or for a total), never for computing them.
 */
export type Operation = (given: JsonObject, expected: JsonObject) => Answer;

/**
 * The operations of one area: those that upstream cases name in `given.operation`, and `peers` for the
 * cases of the area that name none.
 */
export interface AreaOperations {
  readonly peers?: Operation;
  readonly [operation: string]: Operation | undefined;
}
