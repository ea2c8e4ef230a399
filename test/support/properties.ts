import { randomInt } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import fc from 'fast-check';

/** `DEEP=1` (`npm run test:deep`) searches further; `SEED=n` repeats a run. */
const DEEP = process.env['DEEP'] === '1';
const SEED = Number(process.env['SEED'] ?? randomInt(2 ** 31));
/** Mutation runs look at a part of the cases, as they run them a thousand times. */
const SHARE = Number(process.env['PROPERTY_SHARE'] ?? 1);
const TALLY_FILE = process.env['PROPERTY_TALLY'];

export interface Runs {
  /** Cases in `npm test`; the whole domain suite has a minute. */
  readonly quick?: number;
  /** Cases in `npm run test:deep`. */
  readonly deep?: number;
}

/**
 * Declares a jest test that checks a fast-check property, and prints its seed and number of cases.
 * Property tests live in `*.properties.test.ts`, and compare with an independent oracle or an
 * identity, never the code with itself:
 *
 *     property('parts sum to the amount', fc.property(amounts, weights, (amount, list) => { expect(…) }));
 */
export function property<Values extends [unknown, ...unknown[]]>(
  title: string,
  check: fc.IProperty<Values>,
  { quick = 200, deep = 20_000 }: Runs = {},
): void {
  const numRuns = Math.ceil((DEEP ? deep : quick) * SHARE);
  test(
    title,
    () => {
      process.stdout.write(`property "${title}": ${numRuns} cases, SEED=${SEED}\n`);
      fc.assert(check, { seed: SEED, numRuns });
      if (TALLY_FILE !== undefined) appendFileSync(TALLY_FILE, `${numRuns}\n`);
    },
    DEEP ? 3_600_000 : 900_000,
  );
}
