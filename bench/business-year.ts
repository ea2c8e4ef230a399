import { benchRow, type BenchOptions, type BenchRow } from './bench-row.ts';
import { runTests } from './run-tests.ts';

/**
 * Runs `test/simulation/business-year.test.ts` with a company of any size: random payments, credits, taxes, refunds,
 * credit notes, edits, checkout sessions, disputes and cancellations of a year on a test clock. A twentieth of the
 * commands is sent twice, those about a twentieth of the customers of each month lose their connections to Postgres in
 * the middle, and reports of the gateway come twice and out of order. Fails if the product and the naive ledger differ
 * by a cent.
 */
export async function run(options: BenchOptions): Promise<BenchRow[]> {
  const { customers = '100', months = '12', seed = '1' } = options;
  const begun = performance.now();
  await runTests('test/simulation/business-year', {
    BUSINESS_CUSTOMERS: customers,
    BUSINESS_MONTHS: months,
    BUSINESS_SEED: seed,
  });
  const minutes = (performance.now() - begun) / 60_000;
  const years = (Number(customers) * Number(months)) / 12 / minutes;
  const notes = `${customers} customers, ${months} months, BUSINESS_SEED=${seed}, ${minutes.toFixed(1)} min; product and ledger agree to the cent`;
  return [benchRow('a year of a business', years, 'customer-years/min', null, notes)];
}
