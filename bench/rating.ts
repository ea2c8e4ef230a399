import type { UsageRow } from '../domain/metering/usage.ts';
import { Decimal, ZERO } from '../domain/money.ts';
import { priceTerms, type PriceRecord } from '../domain/pricing/price.ts';
import { rateUsageLine } from '../domain/pricing/rate-usage-line.ts';
import { shareAllowance } from '../domain/pricing/allowance.ts';
import { benchRow, type BenchRow } from './bench-row.ts';
import { seededRandom } from './random.ts';

/**
 * Rates 10,000 usage lines on one core, each with an allowance, five tiers and its full explanation.
 * Compared with a loop that only multiplies quantity by unit price and adds the explanation's five
 * products in the same decimals. Each price is parsed once, as in billing runs.
 */
const LINES = 10_000;
const PRICES = 50;
const ROUNDS = 7;
const random = seededRandom(20_260_121);

const prices = Array.from({ length: PRICES }, (_, index) => priceTerms(slabPrice(index)));
const usage = Array.from({ length: LINES }, () => random.integer(0, 200_000_000));
const period = { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' };
const cell = { reference: period, cell: period, service: period };

export async function run(): Promise<BenchRow[]> {
  const rating = best(rateAll);
  const multiplying = best(multiplyAll);
  return [
    benchRow(
      `rating ${LINES} tiered lines`,
      rating,
      'ms',
      multiplying,
      `with allowance and explanation, on one core, best of ${ROUNDS}; limit: a bare multiply loop`,
    ),
  ];
}

function rateAll(): Decimal {
  let total = ZERO;
  for (const [index, quantity] of usage.entries()) {
    const text = (quantity / 1000).toFixed(3);
    const rows: UsageRow[] = [{ group: [], window_start: null, quantity: text, event_count: 1 }];
    const claim = {
      line_id: 'line',
      at: period.start,
      usage: new Decimal(text),
      limit: new Decimal(1000),
    };
    const window = { ...period, usedBefore: ZERO, claims: [claim] };
    const [line] = rateUsageLine({
      line: {},
      price: prices[index % PRICES]!,
      aggregation: 'SUM',
      bucket_size: null,
      timezone: 'UTC',
      rows,
      cell,
      proration_behavior: 'none',
      allowance: shareAllowance('MONTHLY', [window]).get('line')!,
    });
    if (line!.explanation.steps.length !== 4) throw new Error('an explanation is incomplete');
    total = total.plus(line!.amount);
  }
  return total;
}

/** Five products and sums per line: the arithmetic without the rules and the explanation. */
function multiplyAll(): Decimal {
  const unit = new Decimal('0.0025');
  let total = ZERO;
  for (const quantity of usage) {
    const units = new Decimal((quantity / 1000).toFixed(3));
    for (let tier = 0; tier < 5; tier += 1) total = total.plus(units.times(unit));
  }
  return total;
}

function best(run: () => Decimal): number {
  let fastest = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    run();
    fastest = Math.min(fastest, performance.now() - started);
  }
  return fastest;
}

function slabPrice(index: number): PriceRecord {
  const step = index + 1;
  return {
    id: `price_${index}`,
    type: 'USAGE',
    billing_model: 'TIERED',
    currency: 'usd',
    amount: '0',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 1_000 * step, unit_amount: '0.0100', flat_amount: '1' },
      { up_to: 5_000 * step, unit_amount: '0.0080', flat_amount: '2' },
      { up_to: 20_000 * step, unit_amount: '0.0060' },
      { up_to: 100_000 * step, unit_amount: '0.0040' },
      { up_to: null, unit_amount: '0.0025' },
    ],
  };
}
