import { Decimal } from '../../../domain/money.ts';
import { explainedSteps } from '../../../domain/pricing/explain-text.ts';
import { RoundedFigures } from '../../../domain/pricing/rounded-figures.ts';
import { textLines } from '../../../domain/pricing/text-table.ts';
import { examples } from './explained-examples.ts';

/** The exact values of rounded figures, for a reader that shows them where they stand. */
describe('rounded figures', () => {
  const explanations = examples().flatMap((example) => example.explanations);
  const all = explanations.flatMap((explanation) => {
    const figures = new RoundedFigures();
    const plain = explainedSteps(explanation);
    return explainedSteps(explanation, { mark: figures.mark }).map((step, index) => ({
      parts: figures.parts([step.title, ...textLines(step.body)].join('\n')),
      plain: [plain[index]!.title, ...textLines(plain[index]!.body)].join('\n'),
    }));
  });

  test('the text and its columns stay as they are', () => {
    for (const { parts, plain } of all)
      expect(parts.map((part) => (typeof part === 'string' ? part : part.shown)).join('')).toBe(
        plain,
      );
  });

  test('every ≈ has its exact value, which is not the one that is shown but rounds to it', () => {
    const found = all.flatMap(({ parts }) => parts.filter((part) => typeof part !== 'string'));
    expect(found.length).toBeGreaterThan(3);
    for (const { parts } of all)
      expect(parts.filter((part) => typeof part === 'string' && part.includes('≈'))).toEqual([]);
    for (const { shown, exact } of found) {
      const read = new Decimal(shown.replace(/[≈,]/g, ''));
      expect(read.equals(exact)).toBe(false);
      expect(new Decimal(exact).toDecimalPlaces(read.decimalPlaces(), 4).equals(read)).toBe(true);
    }
  });
});
