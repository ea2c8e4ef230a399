import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { runTests } from './run-tests.ts';

const MONTHS_OF_A_YEAR = 12;

/**
 * Runs `test/simulation/two-years.test.ts` with many subscriptions: each lives 24 months, or as many as asked for, on a
 * test clock, with random changes, and every invoice is compared with a naive account. Fails if one differs; the output
 * names its seed. 1,000 of 6 months took 14.4 min on two shared cores; 10,000 of 24 months take many hours.
 */
export async function run(options: BenchOptions): Promise<BenchRow[]> {
  const { subscriptions = '1000', seed = '1', months = '24' } = options;
  const begun = performance.now();
  await runTests('test/simulation/two-years', {
    SUBSCRIPTIONS: subscriptions,
    SEED: seed,
    MONTHS: months,
  });
  const minutes = (performance.now() - begun) / 60_000;
  const years = (Number(subscriptions) * Number(months)) / MONTHS_OF_A_YEAR / minutes;
  const notes = `${subscriptions} subscriptions of ${months} months, SEED=${seed}, ${minutes.toFixed(1)} min with their creation and changes over HTTP`;
  return [
    benchRow(
      'lives, billed as the naive account says',
      years,
      'subscription-years/min',
      null,
      notes,
    ),
  ];
}
