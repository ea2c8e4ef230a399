import fc from 'fast-check';
import { shareAllowance } from '../../../domain/pricing/allowance.ts';
import { Decimal, decimal, decimalText, sum } from '../../../domain/money.ts';
import { applyCommitment, roundCommitment } from '../../../domain/pricing/commitment.ts';
import { changeRows, settleRows } from '../../../domain/pricing/line-change.ts';
import { groupLines } from '../../../domain/pricing/line-grouping.ts';
import { prorate, timeShare, type ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import { commitSubscription } from '../../../domain/pricing/subscription-commitment.ts';
import { applyTermCommitment } from '../../../domain/pricing/term-commitment.ts';
import { isoText } from '../../../domain/time/instant.ts';
import { Explanation } from '../../../schemas/explanation.ts';
import { property } from '../../support/properties.ts';
import { add, close, exact, NOTHING, over, times } from './exact.ts';
import {
  fixed,
  flat,
  JANUARY,
  span,
  tiered,
  usageLine,
  usageLines,
  whole,
  windows,
} from './lines.ts';
import { redo } from './redo-explanation.ts';

const cents = fc
  .integer({ min: 0, max: 10_000_000 })
  .map((value) => decimalText(new Decimal(value).div(100)));
const units = fc
  .integer({ min: 0, max: 2_000_000 })
  .map((value) => decimalText(new Decimal(value).div(1000)));
const factor = fc
  .integer({ min: 100, max: 500 })
  .map((value) => decimalText(new Decimal(value).div(100)));
const currency = fc.constantFrom('usd', 'jpy', 'kwd', 'clf');
const MONTH_MS = 31 * 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);

/** Instants that cut January into slices, at random milliseconds. */
const cuts = fc
  .uniqueArray(fc.integer({ min: 1, max: MONTH_MS - 1 }), { maxLength: 8 })
  .map((list) => [0, ...list.sort((a, b) => a - b), MONTH_MS].map((ms) => isoText(START_MS + ms)));
const slicesOf = (edges: readonly string[]) =>
  edges.slice(0, -1).map((start, index) => ({ start, end: edges[index + 1]! }));

describe('slices of a period (5.1)', () => {
  property(
    'sum to the whole: exactly as fractions, to 30 digits as amounts',
    fc.property(cuts, cents, (edges, amount) => {
      const shares = slicesOf(edges).map((slice) => timeShare(slice, JANUARY));
      expect(shares.reduce((total, share) => total + share.part_ms, 0)).toBe(MONTH_MS);
      const fractions = shares.map(({ part_ms, whole_ms }) =>
        over(exact(part_ms), exact(whole_ms)),
      );
      expect(fractions.reduce(add, NOTHING)).toEqual({ n: 1n, d: 1n });
      const parts = shares.map((share) => prorate(new Decimal(amount), share));
      expect(close(exact(sum(parts).toFixed()), exact(amount))).toBe(true);
    }),
    { quick: 300, deep: 30_000 },
  );

  property(
    'as rows of one line they sum to the full amount, within half a minor unit for each slice',
    fc.property(cuts, cents, fc.constantFrom<ProrationBehavior>('none', 'create_prorations'), (edges, amount, behavior) => {
      const rows = slicesOf(edges).map((service) =>
        rateFixedLine({ price: fixed(amount), quantity: '1', cell: { reference: JANUARY, cell: JANUARY, service }, proration_behavior: behavior }),
      );
      const off = sum(rows.map((row) => row.amount)).minus(amount).abs();
      expect(off.lte(new Decimal('0.005').times(rows.length))).toBe(true);
    }),
    { quick: 150, deep: 15_000 },
  ); // prettier-ignore

  property(
    'each can be recomputed by hand from its explanation',
    fc.property(cuts, cents, units, (edges, amount, quantity) => {
      for (const service of slicesOf(edges)) {
        const cell = { reference: JANUARY, cell: JANUARY, service };
        const line = rateFixedLine({
          price: fixed(amount),
          quantity,
          cell,
          proration_behavior: 'none',
        });
        expect(redo(line.explanation)).toEqual([]);
      }
    }),
    { quick: 60, deep: 2_000 },
  );
});

describe('changes in mid-period (5.3)', () => {
  const change = (before: string, after: string, at: string, paid: string) =>
    changeRows({
      before: { price: fixed('19.99'), quantity: before },
      after: { price: fixed('19.99'), quantity: after },
      invoice_cadence: 'ADVANCE',
      effective_at: at,
      proration_behavior: 'create_prorations',
      cells: [
        {
          reference: JANUARY,
          service: { start: at, end: JANUARY.end },
          billed: { gross: decimal(paid), billed: decimal(paid), credited: decimal('0') },
        },
      ],
    });

  property(
    'up and down again at one instant nets to nothing',
    fc.property(fc.nat(50), fc.nat(50), fc.integer({ min: 0, max: MONTH_MS - 1 }), (few, more, ms) => {
      const at = isoText(START_MS + ms);
      const rows = [...change(String(few), String(few + more), at, '99999'), ...change(String(few + more), String(few), at, '99999')];
      expect(settleRows(rows)).toEqual({ action: 'none', net: new Decimal(0) });
    }),
  ); // prettier-ignore

  property(
    'a credit is never more than what was paid, and never a charge',
    fc.property(fc.nat(50), cents, fc.integer({ min: 0, max: MONTH_MS - 1 }), (seats, paid, ms) => {
      const [credit] = change(String(seats), '0', isoText(START_MS + ms), paid);
      expect(credit!.amount.lte(0) && credit!.amount.abs().lte(paid)).toBe(true);
      expect(redo(credit!.explanation)).toEqual([]);
    }),
  );
});

describe('commitments (6)', () => {
  property(
    'utilized + overage + true-up = charge, rounded or not, and no part is below zero',
    fc.property(
      units,
      cents,
      factor,
      fc.boolean(),
      currency,
      (usage, commitment, f, trueUp, code) => {
        const outcome = applyCommitment(decimal(usage), decimal(commitment), decimal(f), trueUp);
        const exactSum = outcome.utilized.plus(outcome.overage).plus(outcome.trueUp);
        expect(exactSum.eq(outcome.charge)).toBe(true);
        const rounded = roundCommitment(outcome, code);
        expect(rounded.utilized.plus(rounded.overage).plus(rounded.trueUp).eq(rounded.charge)).toBe(
          true,
        );
        for (const part of [rounded.utilized, rounded.overage, rounded.trueUp]) {
          expect(part.gte(0)).toBe(true);
        }
        // By the three lines of 6.1, in exact fractions.
        const [u, c] = [exact(usage), exact(commitment)];
        const above = decimal(usage).gte(commitment);
        const expected = above
          ? add(c, times(add(u, { n: -c.n, d: c.d }), exact(f)))
          : trueUp
            ? c
            : u;
        expect(close(exact(outcome.charge.toFixed()), expected)).toBe(true);
      },
    ),
    { quick: 400, deep: 40_000 },
  );

  property(
    'the periods of a term sum to C + (U − C) × f, below C to max(U, C) with true-up and to U without',
    fc.property(fc.array(cents, { minLength: 1, maxLength: 12 }), cents, factor, fc.boolean(), (usages, commitment, f, trueUpEnabled) => {
      let prior = new Decimal(0);
      let charged = new Decimal(0);
      usages.forEach((usage, index) => {
        const outcome = applyTermCommitment(decimal(usage), { overageFactor: decimal(f), trueUpEnabled }, {
          term: span('2026-01-01', '2027-01-01'),
          commitment: decimal(commitment),
          priorUsage: prior,
          lastPeriod: index === usages.length - 1,
        });
        prior = prior.plus(usage);
        charged = charged.plus(outcome.charge);
      });
      const c = decimal(commitment);
      const expected = prior.gte(c) ? c.plus(prior.minus(c).times(f)) : trueUpEnabled ? c : prior;
      expect(charged.eq(expected)).toBe(true);
    }),
    { quick: 300, deep: 30_000 },
  ); // prettier-ignore

  property(
    'rows of a subscription sum to the rounded charge, for all shares',
    fc.property(fc.array(units, { maxLength: 8 }), cents, factor, fc.boolean(), (usages, commitment, f, trueUpEnabled) => {
      const lines = usages.map((usage) => usageLine({ price: flat('0.0137'), rows: whole(usage) }));
      const terms = { amount: decimal(commitment), overageFactor: decimal(f), trueUpEnabled };
      const found = commitSubscription(lines, terms, { scope: 'period', share: null }, JANUARY, 'usd');
      const outcome = applyCommitment(found.baseUsage, terms.amount, terms.overageFactor, trueUpEnabled);
      const rows = found.rows.flatMap(({ within, overage }) => [within, overage]);
      const all = [...rows, found.trueUp].filter((row) => row !== null);
      expect(sum(all.map((row) => row.amount)).eq(roundCommitment(outcome, 'usd').charge)).toBe(true);
      for (const row of all) expect(redo(row.explanation)).toEqual([]);
    }),
    { quick: 60, deep: 2_000 },
  ); // prettier-ignore
});

describe('allowances (4)', () => {
  property(
    'billable over the periods of one window sums to max(0, total − limit), however it is cut',
    fc.property(fc.array(units, { maxLength: 12 }), fc.option(units), (usages, limit) => {
      let before = new Decimal(0);
      let billable = new Decimal(0);
      for (const usage of usages) {
        const claim = { line_id: 'line', at: JANUARY.start, usage: decimal(usage), limit: limit === null ? null : decimal(limit) };
        const window = { ...JANUARY, usedBefore: before, claims: [claim] };
        const [entry] = shareAllowance('NEVER', [window]).get('line')!.entries;
        billable = billable.plus(entry!.usage).minus(entry!.free);
        before = before.plus(usage);
      }
      const expected = limit === null ? new Decimal(0) : Decimal.max(before.minus(limit), 0);
      expect(billable.eq(expected)).toBe(true);
    }),
    { quick: 300, deep: 30_000 },
  ); // prettier-ignore

  property(
    'shared by any lines in any order, the limit is granted once and as far as there is usage',
    fc.property(
      fc.array(fc.tuple(units, fc.nat(27)), { maxLength: 12 }),
      units,
      (claims, limit) => {
        const window = {
          ...JANUARY,
          usedBefore: new Decimal(0),
          claims: claims.map(([usage, day], index) => ({
            line_id: `line_${index}`,
            at: isoText(START_MS + day * 86_400_000),
            usage: decimal(usage),
            limit: decimal(limit),
          })),
        };
        const shares = [...shareAllowance('MONTHLY', [window]).values()];
        const free = sum(shares.flatMap((share) => share.entries.map((entry) => entry.free)));
        const total = sum(claims.map(([usage]) => decimal(usage)));
        expect(free.eq(Decimal.min(total, limit))).toBe(true);
      },
    ),
    { quick: 200, deep: 20_000 },
  );
});

describe('rows of a line (3.3, 2.4)', () => {
  const ladder = tiered('SLAB', ['10 1.005 2', '100 0.333', '- 0.1 0.5']);

  property(
    'per_billing_period costs what per_charge_period costs',
    fc.property(fc.array(units, { minLength: 1, maxLength: 6 }), (usages) => {
      const lines = usages.map((usage) => usageLine({ price: ladder, rows: whole(usage) }));
      const merged = groupLines(lines, 'per_billing_period');
      expect(merged).toHaveLength(1);
      expect(merged[0]!.amount.eq(sum(lines.map((line) => line.amount)))).toBe(true);
      expect(merged[0]!.quantity.eq(sum(lines.map((line) => line.quantity)))).toBe(true);
      expect(redo(merged[0]!.explanation)).toEqual([]);
      expect(Explanation.parse(merged[0]!.explanation)).toEqual(merged[0]!.explanation);
    }),
    { quick: 60, deep: 2_000 },
  );

  property(
    'each window is priced separately',
    fc.property(fc.array(units, { maxLength: 28 }), (usages) => {
      const rows = usages.flatMap((usage, day) =>
        windows(`2026-01-${String(day + 1).padStart(2, '0')} ${usage}`),
      );
      const line = usageLine({ price: ladder, bucket_size: 'DAY', rows });
      const alone = usages.map(
        (usage) => usageLine({ price: ladder, rows: whole(usage) }).unrounded,
      );
      expect(line.unrounded.eq(sum(alone))).toBe(true);
    }),
    { quick: 40, deep: 1_500 },
  );

  property(
    'a line with everything can be recomputed by hand',
    fc.property(fc.array(units, { minLength: 1, maxLength: 10 }), units, cents, factor, fc.boolean(), (usages, limit, commitment, f, trueUp) => {
      const rows = usages.flatMap((usage, day) => windows(`2026-01-${String(day + 1).padStart(2, '0')} ${usage}`));
      const claims = rows.map((row) => ({ line_id: 'line', at: row.window_start!, usage: decimal(row.quantity), limit: decimal(limit) }));
      // usageLines redoes every explanation and parses it with the schema.
      const lines = usageLines({
        price: ladder,
        bucket_size: 'DAY',
        rows,
        allowance: shareAllowance('MONTHLY', [{ ...JANUARY, usedBefore: new Decimal(0), claims }]).get('line')!,
        line: { commitment_amount: commitment, commitment_overage_factor: f, commitment_true_up_enabled: trueUp },
      });
      expect(lines).toHaveLength(1);
    }),
    { quick: 60, deep: 2_000 },
  ); // prettier-ignore
});
