import fc from 'fast-check';
import { decimal } from '../../domain/money.ts';
import { valueLabels } from '../../web/ui/chart-steps.ts';
import { property } from '../support/properties.ts';

const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.nat(12))
  .map(([digits, scale]) => decimal(String(digits)).div(decimal('10').pow(scale)).toFixed());

property(
  'labels of values contain zero and all values, and are few',
  fc.property(fc.array(amount), (values) => {
    const { at } = valueLabels(values);
    expect(at.length).toBeGreaterThanOrEqual(2);
    expect(at.length).toBeLessThanOrEqual(7);
    expect(at).toContain(0);
    for (const value of values.map(Number))
      expect(at[0]! <= value && value <= at.at(-1)!).toBe(true);
  }),
);
