import { chargeModel, type PriceRecord } from '../../../domain/pricing/price.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { Decimal } from '../../../domain/money.ts';

type ModelFields = Parameters<typeof chargeModel>[0];

const tiers = [
  { up_to: 1000, unit_amount: '0.10' },
  { up_to: 5000, unit_amount: '0.08', flat_amount: '5' },
  { up_to: null, unit_amount: '0.05', flat_amount: '20' },
];
const tiered = (tier_mode: 'VOLUME' | 'SLAB', list: PriceRecord['tiers'] = tiers): ModelFields => ({
  billing_model: 'TIERED',
  amount: '0',
  tier_mode,
  tiers: list,
});
const amountOf = (model: ModelFields, quantity: string) =>
  rate(chargeModel(model), new Decimal(quantity)).amount.toFixed();

describe('tiers: up to 1000 at 0.10; up to 5000 at 0.08 + flat 5; above at 0.05 + flat 20 (2.2)', () => {
  test.each`
    quantity     | volume       | slab
    ${'-3'}      | ${'0'}       | ${'0'}
    ${'0'}       | ${'0'}       | ${'0'}
    ${'0.5'}     | ${'0.05'}    | ${'0.05'}
    ${'999.999'} | ${'99.9999'} | ${'99.9999'}
    ${'1000'}    | ${'100'}     | ${'100'}
    ${'1000.5'}  | ${'85.04'}   | ${'105.04'}
    ${'1001'}    | ${'85.08'}   | ${'105.08'}
    ${'5000'}    | ${'405'}     | ${'425'}
    ${'5001'}    | ${'270.05'}  | ${'445.05'}
    ${'12000'}   | ${'620'}     | ${'795'}
  `('$quantity: VOLUME $volume, SLAB $slab', ({ quantity, volume, slab }) => {
    expect(amountOf(tiered('VOLUME'), quantity)).toBe(volume);
    expect(amountOf(tiered('SLAB'), quantity)).toBe(slab);
  });

  test('are sorted when they are rated, the open one last', () => {
    const mixed = [tiers[2]!, tiers[1]!, tiers[0]!];
    for (const quantity of ['1', '1000', '1001', '5001']) {
      expect(amountOf(tiered('SLAB', mixed), quantity)).toBe(amountOf(tiered('SLAB'), quantity));
      expect(amountOf(tiered('VOLUME', mixed), quantity)).toBe(
        amountOf(tiered('VOLUME'), quantity),
      );
    }
  });

  test('a bounded last tier counts as open in both modes, so nothing beyond it is free', () => {
    const bounded = [
      { up_to: 10, unit_amount: '2' },
      { up_to: 20, unit_amount: '1' },
    ];
    expect(amountOf(tiered('SLAB', bounded), '30')).toBe('40');
    expect(amountOf(tiered('VOLUME', bounded), '30')).toBe('30');
  });

  test('a single open tier is a price per unit with a fee', () => {
    const one = [{ up_to: null, unit_amount: '3', flat_amount: '7' }];
    expect(amountOf(tiered('SLAB', one), '0')).toBe('0');
    expect(amountOf(tiered('SLAB', one), '0.1')).toBe('7.3');
    expect(amountOf(tiered('VOLUME', one), '2')).toBe('13');
  });

  test('an absent up_to is an open tier', () => {
    expect(amountOf(tiered('SLAB', [{ unit_amount: '3' }]), '4')).toBe('12');
  });

  test('up_to may be text, as other records carry numbers', () => {
    const list = [{ up_to: '10', unit_amount: '1' }, { unit_amount: '2' }];
    expect(amountOf(tiered('SLAB', list), '11')).toBe('12');
  });
});

describe('tier shares', () => {
  test('SLAB names every tier that took units, with its bounds', () => {
    const rating = rate(chargeModel(tiered('SLAB')), new Decimal('1000.5'));
    expect(rating.tiers).toEqual([
      {
        index: 0,
        above: new Decimal(0),
        upTo: new Decimal(1000),
        quantity: new Decimal(1000),
        unitAmount: new Decimal('0.1'),
        flatAmount: new Decimal(0),
        amount: new Decimal(100),
      },
      {
        index: 1,
        above: new Decimal(1000),
        upTo: new Decimal(5000),
        quantity: new Decimal('0.5'),
        unitAmount: new Decimal('0.08'),
        flatAmount: new Decimal(5),
        amount: new Decimal('5.04'),
      },
    ]);
    expect(rating.packages).toBeNull();
  });

  test('VOLUME names the one tier that holds the quantity and gives it all units', () => {
    const shares = (quantity: string) =>
      rate(chargeModel(tiered('VOLUME')), new Decimal(quantity)).tiers!.map((share) => [
        share.index,
        share.above.toFixed(),
        share.quantity.toFixed(),
      ]);
    expect(shares('1000')).toEqual([[0, '0', '1000']]);
    expect(shares('1000.001')).toEqual([[1, '1000', '1000.001']]);
    expect(shares('5001')).toEqual([[2, '5000', '5001']]);
  });

  test('nothing used: no tier, no package, quantity zero', () => {
    expect(rate(chargeModel(tiered('SLAB')), new Decimal(-1))).toEqual({
      quantity: new Decimal(0),
      amount: new Decimal(0),
      packages: null,
      tiers: [],
    });
    expect(rate(chargeModel(pack('up')), new Decimal(0)).packages).toEqual(new Decimal(0));
    const flat = chargeModel({ billing_model: 'FLAT_FEE', amount: '1' });
    expect(rate(flat, new Decimal(0))).toMatchObject({ packages: null, tiers: null });
  });
});

const pack = (round: 'up' | 'down' | null, divide_by = 100): ModelFields => ({
  billing_model: 'PACKAGE',
  amount: '5',
  transform_quantity: { divide_by, round },
});

describe('package of 100 at 5 (2.2)', () => {
  test.each`
    quantity    | up      | down
    ${'0'}      | ${'0'}  | ${'0'}
    ${'1'}      | ${'5'}  | ${'0'}
    ${'99'}     | ${'5'}  | ${'0'}
    ${'99.999'} | ${'5'}  | ${'0'}
    ${'100'}    | ${'5'}  | ${'5'}
    ${'100.5'}  | ${'10'} | ${'5'}
    ${'200'}    | ${'10'} | ${'10'}
    ${'250'}    | ${'15'} | ${'10'}
    ${'1000.5'} | ${'55'} | ${'50'}
  `('$quantity units: up $up, down $down', ({ quantity, up, down }) => {
    expect(amountOf(pack('up'), quantity)).toBe(up);
    expect(amountOf(pack('down'), quantity)).toBe(down);
    expect(amountOf(pack(null), quantity)).toBe(up);
  });

  test('counts packages', () => {
    expect(rate(chargeModel(pack('up')), new Decimal('250')).packages).toEqual(new Decimal(3));
  });

  test('any quantity above whole packages is one more package, however small', () => {
    expect(amountOf(pack('up', 3), '30000000000000000000.000000000000000001')).toBe(
      '50000000000000000005',
    );
    expect(amountOf(pack('up', 3), '30000000000000000000')).toBe('50000000000000000000');
  });

  test('a package of one rounds units', () => {
    expect(amountOf(pack('up', 1), '2.1')).toBe('15');
    expect(amountOf(pack('down', 1), '2.9')).toBe('10');
  });
});

describe('flat fee (2.2)', () => {
  const flat = (amount: string): ModelFields => ({ billing_model: 'FLAT_FEE', amount });
  test.each`
    amount        | quantity                | charge
    ${'10'}       | ${'5'}                  | ${'50'}
    ${'0.003333'} | ${'1000'}               | ${'3.333'}
    ${'20'}       | ${'-1'}                 | ${'0'}
    ${'0'}        | ${'7'}                  | ${'0'}
    ${'0.1'}      | ${'3'}                  | ${'0.3'}
    ${'5.12345'}  | ${'10'}                 | ${'51.2345'}
    ${'1'}        | ${'0.0000000000000001'} | ${'0.0000000000000001'}
  `('$amount × $quantity = $charge', ({ amount, quantity, charge }) => {
    expect(amountOf(flat(amount), quantity)).toBe(charge);
  });

  test('has neither tiers nor packages', () => {
    expect(rate(chargeModel(flat('2')), new Decimal(3))).toEqual({
      quantity: new Decimal(3),
      amount: new Decimal(6),
      packages: null,
      tiers: null,
    });
  });
});

describe('what cannot be rated is a bug', () => {
  const rating =
    (model: object, quantity: Decimal = new Decimal(1)) =>
    () =>
      rate(chargeModel(model as ModelFields), quantity);
  test('a quantity that is not a number', () => {
    expect(rating(pack('up'), new Decimal(NaN))).toThrow('a quantity that is not finite');
    expect(rating(pack('up'), new Decimal(Infinity))).toThrow('a quantity that is not finite');
  });
  test('a record that validation would have refused', () => {
    expect(rating({ billing_model: 'PACKAGE', amount: '1' })).toThrow('a package without its size');
    expect(rating({ ...pack('up', 0) })).toThrow('a package without its size');
    expect(rating({ billing_model: 'TIERED', tiers: [] })).toThrow('tiers without a mode');
    expect(rating(tiered('SLAB', []))).toThrow('a price without tiers');
    expect(rating(tiered('SLAB', null))).toThrow('a price without tiers');
    expect(rating({ billing_model: 'FLAT_FEE', amount: null })).toThrow('a price without amount');
    expect(rating({ billing_model: 'FLAT_FEE', amount: 'ten' })).toThrow('not decimal text: ten');
  });
});
