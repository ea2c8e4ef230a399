import fc from 'fast-check';
import { shareAllowance } from '../../../domain/pricing/allowance.ts';
import { minorDigits } from '../../../domain/currency.ts';
import { decimal, Decimal, decimalText } from '../../../domain/money.ts';
import { explainModel } from '../../../domain/pricing/explain.ts';
import { priceTerms, type PriceRecord, type PriceTerms } from '../../../domain/pricing/price.ts';
import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { isoText } from '../../../domain/time/instant.ts';
import { property } from '../../support/properties.ts';
import {
  add,
  compare,
  exact,
  least,
  minus,
  most,
  NOTHING,
  over,
  rounded,
  text,
  times,
  total,
  type Exact,
} from './exact.ts';
import { priceOf } from './second-interpreter.ts';

/**
 * A shadow calculator: whole invoice lines computed a second time, straight from the rules and the
 * inputs, in exact fractions and without a look at what the code says it did.
 */
const amount = fc
  .integer({ min: 0, max: 1_000_000 })
  .map((n) => decimalText(new Decimal(n).div(10_000)));
const units = fc
  .integer({ min: 0, max: 3_000_000 })
  .map((n) => decimalText(new Decimal(n).div(1000)));
const currency = fc.constantFrom('usd', 'jpy', 'kwd', 'clf');

const prices: fc.Arbitrary<PriceTerms> = fc
  .record({
    model: fc.constantFrom(
      'FLAT_FEE' as const,
      'PACKAGE' as const,
      'SLAB' as const,
      'VOLUME' as const,
    ),
    amount,
    divide_by: fc.integer({ min: 1, max: 500 }),
    round: fc.constantFrom('up' as const, 'down' as const),
    bounds: fc.uniqueArray(fc.integer({ min: 1, max: 3_000 }), { maxLength: 4 }),
    rates: fc.array(fc.tuple(amount, fc.option(amount)), { minLength: 5, maxLength: 5 }),
    currency,
  })
  .map((row) => {
    const tiered = row.model === 'SLAB' || row.model === 'VOLUME';
    const tiers = [...row.bounds, null].map((up_to, index) => ({
      up_to,
      unit_amount: row.rates[index]![0],
      flat_amount: row.rates[index]![1],
    }));
    const record: PriceRecord = {
      id: 'price',
      type: 'USAGE',
      currency: row.currency,
      billing_model: tiered ? 'TIERED' : (row.model as 'FLAT_FEE' | 'PACKAGE'),
      amount: tiered ? null : row.amount,
      tier_mode: tiered ? (row.model as 'SLAB' | 'VOLUME') : null,
      tiers: tiered ? tiers : null,
      transform_quantity:
        row.model === 'PACKAGE' ? { divide_by: row.divide_by, round: row.round } : null,
    };
    return priceTerms(record);
  });

const START_MS = Date.UTC(2026, 2, 1);
const MONTH_MS = 31 * 86_400_000;
const month = { start: isoText(START_MS), end: isoText(START_MS + MONTH_MS) };
const cell = { reference: month, cell: month, service: month };

const price = (terms: PriceTerms, quantity: Exact) => priceOf(explainModel(terms.model), quantity);
const inMinorUnits = (value: Exact, code: string) => text(rounded(value, minorDigits(code)));

const commitments = fc.option(
  fc.record({
    kind: fc.constantFrom('amount' as const, 'quantity' as const),
    value: fc.integer({ min: 1, max: 500_000 }).map((n) => decimalText(new Decimal(n).div(100))),
    factor: fc.integer({ min: 100, max: 300 }).map((n) => decimalText(new Decimal(n).div(100))),
    trueUp: fc.boolean(),
  }),
);
type Commitment = typeof commitments extends fc.Arbitrary<infer Value> ? NonNullable<Value> : never;

const fieldsOf = (commitment: Commitment | null) =>
  commitment === null
    ? {}
    : {
        [`commitment_${commitment.kind}`]: commitment.value,
        commitment_overage_factor: commitment.factor,
        commitment_true_up_enabled: commitment.trueUp,
      };

/** billing 6.1 in three lines. */
function under(commitment: Commitment | null, usage: Exact, terms: PriceTerms): Exact {
  if (commitment === null) return usage;
  const value = exact(commitment.value);
  const promise = commitment.kind === 'amount' ? value : price(terms, value);
  if (compare(usage, promise) >= 0) {
    return add(promise, times(minus(usage, promise), exact(commitment.factor)));
  }
  return commitment.trueUp ? promise : usage;
}

describe('a shadow calculator agrees to the cent', () => {
  property(
    'on usage with an allowance and a commitment',
    fc.property(
      prices,
      units,
      fc.option(fc.record({ limit: fc.option(units), before: units })),
      commitments,
      (terms, usage, allowance, commitment) => {
        const claim = {
          line_id: 'line',
          at: month.start,
          usage: decimal(usage),
          limit: allowance?.limit == null ? null : decimal(allowance.limit),
        };
        const before = decimal(allowance?.before ?? '0');
        const window = { ...month, usedBefore: before, claims: [claim] };
        const [line] = rateUsageLine({
          line: fieldsOf(commitment),
          price: terms,
          aggregation: 'SUM',
          bucket_size: null,
          timezone: 'UTC',
          rows: [{ group: [], window_start: null, quantity: usage, event_count: 1 }],
          cell,
          proration_behavior: 'none',
          allowance: allowance === null ? null : shareAllowance('ANNUAL', [window]).get('line')!,
        });

        const used = exact(usage);
        const left =
          allowance === null
            ? NOTHING
            : allowance.limit === null
              ? used
              : most(minus(exact(allowance.limit), exact(allowance.before)), NOTHING);
        const billable = minus(used, least(left, used));
        const charge = under(commitment, price(terms, billable), terms);
        expect(decimalText(line!.quantity)).toBe(text(billable));
        expect(decimalText(line!.amount)).toBe(inMinorUnits(charge, terms.currency));
      },
    ),
    { quick: 400, deep: 30_000 },
  );

  property(
    'on windows, each held to the commitment or none',
    fc.property(
      prices,
      fc.array(units, { maxLength: 31 }),
      commitments,
      (terms, usages, commitment) => {
        const day = (index: number) => ({
          start: isoText(START_MS + index * 86_400_000),
          end: isoText(START_MS + (index + 1) * 86_400_000),
        });
        const grid = Array.from({ length: 31 }, (_, index) => ({
          grid: day(index),
          service: day(index),
        }));
        const [line] = rateUsageLine({
          line: { ...fieldsOf(commitment), commitment_windowed: true },
          price: terms,
          aggregation: 'MAX',
          bucket_size: 'DAY',
          timezone: 'UTC',
          rows: usages.map((quantity, index) => ({
            group: [],
            window_start: day(index).start,
            quantity,
            event_count: 1,
          })),
          cell,
          proration_behavior: 'none',
          commitment: { scope: 'windows', windows: grid },
        });

        const charges = grid.map((_, index) =>
          under(commitment, price(terms, exact(usages[index] ?? '0')), terms),
        );
        expect(decimalText(line!.amount)).toBe(inMinorUnits(total(charges), terms.currency));
        expect(decimalText(line!.quantity)).toBe(text(total(usages.map(exact))));
      },
    ),
    { quick: 150, deep: 8_000 },
  );

  property(
    'on fixed fees that the subscription, or their own dates, cut',
    fc.property(
      prices,
      units,
      fc.tuple(fc.nat(MONTH_MS), fc.nat(MONTH_MS), fc.nat(MONTH_MS), fc.nat(MONTH_MS)),
      fc.constantFrom<ProrationBehavior>('create_prorations', 'none'),
      (terms, quantity, points, proration_behavior) => {
        const [a, b, c, d] = [...points].sort((left, right) => left - right) as [
          number,
          number,
          number,
          number,
        ];
        const between = (from: number, until: number) => ({
          start: isoText(START_MS + from),
          end: isoText(START_MS + until),
        });
        const line = rateFixedLine({
          price: { ...terms, type: 'FIXED' },
          quantity,
          cell: { reference: month, cell: between(a, d), service: between(b, c) },
          proration_behavior,
        });

        // With none what the subscription cuts is paid for: from an own start, to an own end only.
        const from = proration_behavior === 'none' && b === a ? 0 : b;
        const until = proration_behavior === 'none' && c === d ? MONTH_MS : c;
        const share = over(exact(until - from), exact(MONTH_MS));
        const charge = times(price(terms, exact(quantity)), share);
        expect(decimalText(line.amount)).toBe(inMinorUnits(charge, terms.currency));
      },
    ),
    { quick: 300, deep: 20_000 },
  );
});
