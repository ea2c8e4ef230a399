import { readFileSync, writeFileSync } from 'node:fs';
import { explainText } from '../../../domain/pricing/explain-text.ts';
import { Explanation } from '../../../schemas/explanation.ts';
import { examples } from './explained-examples.ts';
import { redo } from './redo-explanation.ts';

/** `UPDATE_DOCS=1 npm test -- test/domain/pricing/explanations-page` writes the page again. */
const PAGE = new URL('../../../docs/explanations.md', import.meta.url);

const HEAD = `# Explained lines

Every invoice line carries an explanation: what it was computed from and every result on the way, in the order of the
computation (\`schemas/explanation.ts\`). Rating returns it together with the amount; nothing computes it again, so it cannot
say something else than the invoice. Below is one line for each rule, printed by \`explainText\`, with the section of
the billing rules that decides. A test computes this page and redoes each line by hand, with exact fractions.

The text is for readers: money has at least the minor digits of its currency, figures have at most 6 decimals and a comma between thousands, and ≈ marks a
figure that is rounded for reading (a price below a thousandth keeps four significant digits). The stored explanation has the exact ones. Dates are in
the customer's time zone, and coupons and taxes have their names, where the text is printed for an invoice.
`;

function page(): string {
  const sections = examples().map(({ title, words, explanations }) =>
    [
      `## ${title}`,
      words,
      ...explanations.map((explanation) => `\`\`\`text\n${explainText(explanation)}\`\`\``),
    ].join('\n\n'),
  );
  return `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`;
}

describe('docs/explanations.md', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, page());

  test('is what the code says', () => {
    expect(readFileSync(PAGE, 'utf8')).toBe(page());
  });

  test.each(examples().map((example) => [example.title, example] as const))(
    '%s is correct when it is recomputed by hand',
    (_title, { explanations }) => {
      expect(explanations.length).toBeGreaterThan(0);
      for (const explanation of explanations) {
        expect(Explanation.parse(explanation)).toEqual(explanation);
        expect(redo(explanation)).toEqual([]);
      }
    },
  );

  test('every step that a line can have is on the page', () => {
    const shown = new Set(
      examples().flatMap(({ explanations }) =>
        explanations.flatMap(({ steps }) => steps.map(({ step }) => step)),
      ),
    );
    const { steps } = Explanation.shape;
    const all = steps.element.options.map((option) => option.shape.step.value);
    // A trial's zero row explains the trial only, and is on its opening invoice.
    expect(all.filter((step) => !shown.has(step))).toEqual(['trial']);
  });
});
