import type { Answer, JsonObject } from './compare.ts';

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
