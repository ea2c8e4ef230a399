import fc from 'fast-check';
import { Decimal, decimalText } from '../../../domain/money.ts';
import { explainModel } from '../../../domain/pricing/explain.ts';
import { chargeModel, type PriceRecord } from '../../../domain/pricing/price.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { property } from '../../support/properties.ts';
import { close, exact, text } from './exact.ts';
import { priceOf } from './second-interpreter.ts';

/** Decimal text with up to `decimals` places, below 10^integers. */
const decimalUpTo = (integers: number, decimals: number) =>
  fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** BigInt(integers + decimals) - 1n }), fc.nat(decimals))
    .map(([units, places]) => {
      const digits = String(units).padStart(places + 1, '0');
      return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
    })
    .map((value) => decimalText(new Decimal(value)));

const money = decimalUpTo(6, 8);
const quantities = fc.oneof(decimalUpTo(7, 6), fc.nat(2_000).map(String), decimalUpTo(1, 9));
const bounds = fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { minLength: 0, maxLength: 6 });

const tierLists = fc
  .tuple(bounds, fc.boolean())
  .chain(([list, open]) => {
    const upTos: (number | null)[] = open || list.length === 0 ? [...list, null] : list;
    return fc.tuple(...upTos.map((up_to) => fc.record({ up_to: fc.constant(up_to), unit_amount: money, flat_amount: fc.option(money) })));
  }); // prettier-ignore

type ModelFields = Pick<
  PriceRecord,
  'billing_model' | 'amount' | 'tier_mode' | 'tiers' | 'transform_quantity'
>;
const flats = money.map((amount): ModelFields => ({ billing_model: 'FLAT_FEE', amount }));
const packages = fc
  .record({ amount: money, divide_by: fc.integer({ min: 1, max: 5_000 }), round: fc.constantFrom('up' as const, 'down' as const, null) })
  .map(({ amount, divide_by, round }): ModelFields => ({ billing_model: 'PACKAGE', amount, transform_quantity: { divide_by, round } })); // prettier-ignore
const tiered = (tier_mode: 'SLAB' | 'VOLUME') =>
  tierLists.map((tiers): ModelFields => ({
    billing_model: 'TIERED',
    amount: null,
    tier_mode,
    tiers,
  }));
const models = fc.oneof(flats, packages, tiered('SLAB'), tiered('VOLUME'));
const charge = (fields: ModelFields, quantity: string) =>
  rate(chargeModel(fields), new Decimal(quantity));

describe('rate(price, quantity)', () => {
  property(
    'agrees with an interpreter written a second time, on exact fractions',
    fc.property(models, quantities, (fields, quantity) => {
      const model = chargeModel(fields);
      const ours = rate(model, new Decimal(quantity)).amount;
      const theirs = priceOf(explainModel(model), exact(quantity));
      expect(close(exact(ours.toFixed()), theirs) || `${ours} or ${text(theirs)}`).toBe(true);
    }),
    { quick: 600, deep: 60_000 },
  );

  property(
    'is monotone for FLAT_FEE, PACKAGE and SLAB',
    fc.property(fc.oneof(flats, packages, tiered('SLAB')), quantities, quantities, (fields, one, other) => {
      const [less, more] = [one, other].sort((a, b) => new Decimal(a).comparedTo(b));
      expect(charge(fields, less!).amount.lte(charge(fields, more!).amount)).toBe(true);
    }),
    { quick: 300, deep: 30_000 },
  ); // prettier-ignore

  property(
    'is monotone inside one tier of VOLUME',
    fc.property(tiered('VOLUME'), quantities, quantities, (fields, one, other) => {
      const [less, more] = [one, other].sort((a, b) => new Decimal(a).comparedTo(b));
      const [low, high] = [charge(fields, less!), charge(fields, more!)];
      fc.pre(low.tiers![0]?.index === high.tiers![0]?.index);
      expect(low.amount.lte(high.amount)).toBe(true);
    }),
    { quick: 300, deep: 30_000 },
  );

  property(
    'costs nothing for nothing and less, and never less than nothing',
    fc.property(models, quantities, (fields, quantity) => {
      expect(charge(fields, '0').amount.isZero()).toBe(true);
      expect(charge(fields, `-${quantity}`).amount.isZero()).toBe(true);
      expect(charge(fields, quantity).amount.gte(0)).toBe(true);
    }),
  );

  property(
    'SLAB is additive over its tiers: shares cover the quantity, without gap or overlap, and sum to the charge',
    fc.property(tiered('SLAB'), quantities, (fields, quantity) => {
      const { tiers, amount } = charge(fields, quantity);
      let above = new Decimal(0);
      let total = new Decimal(0);
      for (const share of tiers!) {
        expect(share.above.eq(above)).toBe(true);
        expect(share.quantity.gt(0)).toBe(true);
        above = above.plus(share.quantity);
        if (share.upTo !== null) expect(above.lte(share.upTo)).toBe(true);
        total = total.plus(share.quantity.times(share.unitAmount).plus(share.flatAmount));
      }
      expect(above.eq(quantity)).toBe(true);
      expect(total.eq(amount)).toBe(true);
    }),
    { quick: 300, deep: 30_000 },
  );

  property(
    'SLAB without flat amounts is additive in the quantity, where both parts are in one tier',
    fc.property(tiered('SLAB'), fc.nat(4_000), fc.nat(4_000), (fields, base, more) => {
      const bare = { ...fields, tiers: fields.tiers!.map((tier) => ({ ...tier, flat_amount: null })) };
      const low = charge(bare, String(base));
      const high = charge(bare, String(base + more));
      const [last, top] = [low.tiers!.at(-1), high.tiers!.at(-1)];
      fc.pre(last !== undefined && last.index === top?.index);
      const step = last!.unitAmount.times(more);
      expect(high.amount.minus(low.amount).eq(step)).toBe(true);
    }),
  ); // prettier-ignore

  property(
    'the order of the tiers in the record does not matter',
    fc.property(
      fc.oneof(tiered('SLAB'), tiered('VOLUME')),
      quantities,
      fc.nat(100),
      (fields, quantity, turns) => {
        const list = fields.tiers!;
        const turned = list.map((_, index) => list[(index + turns) % list.length]!);
        const one = charge(fields, quantity).amount;
        expect(charge({ ...fields, tiers: turned }, quantity).amount.eq(one)).toBe(true);
      },
    ),
  );

  property(
    'PACKAGE charges the least whole number of packages that holds the quantity, or the greatest that it fills',
    fc.property(packages, quantities, (fields, quantity) => {
      const { divide_by, round } = fields.transform_quantity!;
      const count = charge(fields, quantity).packages!;
      const units = new Decimal(quantity);
      expect(count.isInteger()).toBe(true);
      const held = count.times(divide_by);
      if (round === 'down') {
        expect(held.lte(units) && held.plus(divide_by).gt(units)).toBe(true);
      } else {
        expect(held.gte(units) && held.minus(divide_by).lt(units)).toBe(true);
      }
    }),
  );
});
