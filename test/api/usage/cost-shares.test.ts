import {
  lineCost,
  NO_COST,
  plainCost,
  shareCost,
} from '../../../api/billing/analytics/cost-shares.ts';
import { Decimal } from '../../../domain/money.ts';

const weight = (amount: string, event_count = 1) => ({ amount: new Decimal(amount), event_count });
const costs = (parts: ReturnType<typeof shareCost>) => parts.map(({ cost }) => cost.toFixed());

describe('shares of a line’s cost', () => {
  test('go by usage and add up to the cost, also where it does not divide', () => {
    const parts = shareCost(plainCost(new Decimal('10')), [weight('1'), weight('1'), weight('1')]);
    expect(costs(parts)).toEqual(['3.333333333333333', '3.333333333333333', '3.333333333333334']);
  });

  test('discounts and commitment parts are shared by the same weights', () => {
    const line = {
      cost: new Decimal(120),
      discount: new Decimal(12),
      utilized: new Decimal(100),
      overage: new Decimal(20),
      true_up: new Decimal(0),
    };
    const [first, second] = shareCost(line, [weight('3'), weight('1')]);
    expect([first!.cost, first!.discount, first!.utilized, first!.overage].map(String)).toEqual([
      '90',
      '9',
      '75',
      '15',
    ]);
    expect([second!.cost, second!.utilized, second!.overage].map(String)).toEqual([
      '30',
      '25',
      '5',
    ]);
  });

  test('a filter shows its part of the whole line and no more', () => {
    const parts = shareCost(plainCost(new Decimal(10)), [weight('4')], weight('20', 5));
    expect(costs(parts)).toEqual(['2']);
  });

  test('events decide where a usage is negative, or all are zero', () => {
    const ten = plainCost(new Decimal(10));
    expect(costs(shareCost(ten, [weight('-5', 1), weight('8', 4)]))).toEqual(['2', '8']);
    expect(costs(shareCost(ten, [weight('0', 3), weight('0', 1)]))).toEqual(['7.5', '2.5']);
    expect(shareCost(ten, [weight('0', 0)])).toEqual([NO_COST]);
  });

  test('a line without rows costs nothing', () => {
    expect(lineCost([]).cost.isZero()).toBe(true);
    expect(shareCost(NO_COST, [])).toEqual([]);
  });
});
