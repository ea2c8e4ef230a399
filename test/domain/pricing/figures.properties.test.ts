import fc from 'fast-check';
import { Decimal } from '../../../domain/money.ts';
import { figuresOf } from '../../../domain/pricing/figures.ts';
import { property } from '../../support/properties.ts';

const exactText = fc
  .tuple(fc.bigInt(-(10n ** 24n), 10n ** 24n), fc.integer({ min: 0, max: 18 }))
  .map(([units, decimals]) => new Decimal(units.toString()).div(new Decimal(10).pow(decimals)));
property(
  'what is shown is the exact figure, or marked and the nearest one of its decimals',
  fc.property(exactText, fc.integer({ min: 0, max: 4 }), (exact, digits) => {
    const figures = figuresOf(digits, {});
    for (const kind of ['money', 'price', 'number'] as const) {
      const shown = figures[kind](exact.toFixed());
      const isMarked = shown.startsWith('≈');
      const read = new Decimal(shown.replace(/[≈,]/g, ''));
      const last = new Decimal(10).pow(-(shown.split('.')[1]?.length ?? 0));
      expect(read.equals(exact)).toBe(!isMarked);
      expect(read.minus(exact).abs().lt(last)).toBe(true);
      if (kind !== 'price') expect(shown).not.toMatch(/\.\d{7}/);
      if (kind !== 'number')
        expect(shown.split('.')[1]?.length ?? 0).toBeGreaterThanOrEqual(digits);
    }
  }),
);
