import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { runTests } from './run-tests.ts';

const YEARS = 2;

/**
 * Runs `test/simulation/two-years.test.ts` with many subscriptions: each lives 24 months on a test clock, with random
 * changes, and every invoice is compared with a naive account. Fails if one differs; the output names its seed.
 */
export async function run(options: BenchOptions): Promise<BenchRow[]> {
  const { subscriptions = '10000', seed = '1' } = options;
  const begun = performance.now();
  await runTests('test/simulation/two-years', { SUBSCRIPTIONS: subscriptions, SEED: seed });
  const minutes = (performance.now() - begun) / 60_000;
  const years = (Number(subscriptions) * YEARS) / minutes;
  const notes = `${subscriptions} subscriptions, SEED=${seed}, ${minutes.toFixed(1)} min with their creation and changes over HTTP`;
  return [benchRow('two years, billed as told', years, 'subscription-years/min', null, notes)];
}
