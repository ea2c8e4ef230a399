import fc from 'fast-check';
import { BillingError } from '../../../domain/errors.ts';
import { RE2JS } from '@bufbuild/re2';
import { compileExpression, compileMeasured } from '../../../domain/metering/expression.ts';
import { patternParts } from '../../../domain/metering/expression/pattern-parts.ts';
import { property } from '../../support/properties.ts';

/**
 * Random expressions beside an evaluator of fractions of integers, which shares nothing with ours: no
 * decimals, no rounding before the end.
 */
interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

interface Sample {
  readonly source: string;
  readonly properties: Record<string, unknown>;
  /** Null: some property of it is missing, or it divides by zero. */
  readonly value: Fraction | null;
  readonly leaves: number;
}

const fraction = (over: bigint, under: bigint): Fraction =>
  under < 0n ? { over: -over, under: -under } : { over, under };

/** Canonical text at 18 decimals, half away from zero. */
function rounded({ over, under }: Fraction): string {
  const magnitude = over < 0n ? -over : over;
  const units = (2n * magnitude * 10n ** 18n + under) / (2n * under);
  const digits = units.toString().padStart(19, '0');
  const decimals = digits.slice(-18).replace(/0+$/, '');
  const text = `${digits.slice(0, -18)}${decimals === '' ? '' : `.${decimals}`}`;
  return over < 0n && units !== 0n ? `-${text}` : text;
}

/** A number written as a literal, as a JSON number of the event or as text of the event. */
const leaf: fc.Arbitrary<Sample> = fc
  .record({
    units: fc.integer({ min: -99_999, max: 99_999 }),
    decimals: fc.integer({ min: 0, max: 3 }),
    form: fc.constantFrom('literal', 'number', 'text', 'short'),
    name: fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon'),
    salt: fc.integer({ min: 0, max: 9_999 }),
  })
  .map(({ units, decimals, form, name, salt }) => {
    const magnitude = String(Math.abs(units)).padStart(decimals + 1, '0');
    const cut = magnitude.length - decimals;
    const plain = decimals === 0 ? magnitude : `${magnitude.slice(0, cut)}.${magnitude.slice(cut)}`;
    const text = units < 0 ? `-${plain}` : plain;
    const value = fraction(BigInt(units), 10n ** BigInt(decimals));
    const key = `${name}_${salt}_${units < 0 ? 'm' : 'p'}${Math.abs(units)}_${decimals}`;
    const sent = form === 'number' ? Number(text) : text;
    if (form === 'literal') return { source: `(${text})`, properties: {}, value, leaves: 1 };
    const path = form === 'short' ? key : `properties.${key}`;
    return { source: path, properties: { [key]: sent }, value, leaves: 1 };
  });

type Combine = (left: Fraction, right: Fraction) => Fraction | null;
const OPERATORS: Record<string, Combine> = {
  '+': (a, b) => fraction(a.over * b.under + b.over * a.under, a.under * b.under),
  '-': (a, b) => fraction(a.over * b.under - b.over * a.under, a.under * b.under),
  '*': (a, b) => fraction(a.over * b.over, a.under * b.under),
};
/** What the event has for a sample that is one property; undefined for literals and results. */
const sentValue = ({ leaves, properties }: Sample): unknown =>
  leaves === 1 ? Object.values(properties)[0] : undefined;
const less = (a: Fraction, b: Fraction) => a.over * b.under < b.over * a.under;

function joined(left: Sample, operator: string, right: Sample): Sample {
  const value =
    left.value === null || right.value === null
      ? null
      : OPERATORS[operator]!(left.value, right.value);
  return {
    source: `(${left.source} ${operator} ${right.source})`,
    properties: { ...left.properties, ...right.properties },
    value,
    leaves: left.leaves + right.leaves,
  };
}

/** Up to six leaves: their product has some 30 digits, fewer than the 40 that are computed with. */
const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .tuple(tie('sample'), fc.constantFrom(...Object.keys(OPERATORS)), tie('sample'))
      .map(([left, operator, right]) => joined(left, operator, right)),
  ),
}));
const small = sample.filter(({ leaves }) => leaves <= 6);

describe('expressions', () => {
  property(
    'arithmetic is that of fractions, rounded once',
    fc.property(small, ({ source, properties, value }) => {
      const result = compileExpression(source)(properties);
      const expected = rounded(value!);
      const fits = expected.replace('-', '').split('.')[0]!.length <= 20;
      expect(result).toEqual(
        fits ? { value: expected, reason: null } : { value: null, reason: 'value_out_of_range' },
      );
    }),
    { quick: 500, deep: 40_000 },
  );

  property(
    'a quotient of two of them has 18 decimals, half away from zero',
    fc.property(leaf, leaf, (left, right) => {
      const evaluate = compileExpression(`${left.source} / ${right.source}`);
      const result = evaluate({ ...left.properties, ...right.properties });
      const [a, b] = [left.value!, right.value!];
      if (b.over === 0n) expect(result).toEqual({ value: null, reason: 'expression_failed' });
      else expect(result.value).toBe(rounded(fraction(a.over * b.under, a.under * b.over)));
    }),
    { quick: 300, deep: 20_000 },
  );

  property(
    'comparisons choose the branch that the fractions choose',
    fc.property(small, small, (left, right) => {
      const properties = { ...left.properties, ...right.properties };
      const holds = (operator: string) =>
        compileExpression(`${left.source} ${operator} ${right.source} ? 1 : 0`)(properties).value;
      const [a, b] = [left.value!, right.value!];
      const isLess = less(a, b);
      const isGreater = less(b, a);
      expect(holds('<')).toBe(isLess ? '1' : '0');
      expect(holds('>')).toBe(isGreater ? '1' : '0');
      expect(holds('<=')).toBe(isGreater ? '0' : '1');
      expect(holds('>=')).toBe(isLess ? '0' : '1');
      const areTexts = typeof sentValue(left) === 'string' && typeof sentValue(right) === 'string';
      const areEqual = areTexts ? sentValue(left) === sentValue(right) : !isLess && !isGreater;
      expect(holds('==')).toBe(areEqual ? '1' : '0');
      expect(holds('!=')).toBe(areEqual ? '0' : '1');
    }),
    { quick: 200, deep: 10_000 },
  );

  property(
    'an event that lacks one of the properties is not metered, whichever it is',
    fc.property(small, fc.nat(), (one, index) => {
      const names = Object.keys(one.properties);
      fc.pre(names.length > 0);
      const name = names[index % names.length]!;
      const { [name]: _, ...rest } = one.properties;
      expect(compileExpression(one.source)(rest)).toEqual({ value: null, reason: 'value_missing' });
      expect(compileExpression(one.source)({ ...rest, [name]: 'many' })).toEqual({
        value: null,
        reason: 'value_not_numeric',
      });
    }),
    { quick: 200, deep: 10_000 },
  );

  property(
    'every input is refused by name or gives one answer, the same each time',
    fc.property(
      fc.oneof(
        fc.string({ maxLength: 60 }),
        fc
          .array(
            fc.constantFrom(
              'a', 'b', 'properties', '.', '[', ']', '(', ')', '"x"', '1', '2.5', '+', '-', '*', '/',
              '%', '<', '==', '&&', '||', '!', '?', ':', ',', ' in ', 'has', 'size', 'max', '.map(x, x)',
              '.exists(y, y > 1)', '.matches("a+")', 'null', 'true', '{', '}',
            ), // prettier-ignore
            { maxLength: 14 },
          )
          .map((parts) => parts.join('')),
      ),
      (source) => {
        let evaluate: ReturnType<typeof compileExpression>;
        try {
          evaluate = compileExpression(source, 'here');
        } catch (error) {
          expect(error).toBeInstanceOf(BillingError);
          expect((error as BillingError).details[0]!.path).toBe('here');
          return;
        }
        const event = { a: 3, b: ['1', 2], x: 'y' };
        const first = evaluate(event);
        expect((first.value === null) !== (first.reason === null)).toBe(true);
        expect(evaluate(event)).toEqual(first);
        expect(event).toEqual({ a: 3, b: ['1', 2], x: 'y' });
      },
    ),
    { quick: 500, deep: 20_000 },
  );
});

/** Expressions with everything that a budget is spent on. */
const costly = fc
  .array(
    fc.constantFrom(
      'size(l)', 'size(s)', 'size(l + l)', 'size(l.map(x, x * 2))', 'size(l.filter(x, x > 3))',
      'size(l.map(x, [x, x, l]))', 'size(string(n * 7))', '(l.exists(x, x == n) ? 1 : 2)',
      '(l.all(x, x in l) ? 1 : 2)', '(l == l ? 1 : 2)', '(s.contains("ab") ? 1 : 2)',
      '(s.contains("abababababababababababc") ? 1 : 2)', '(s.matches("(ab)*b") ? 1 : 2)',
      '(s < s + 1 || true ? 1 : 2)', 'max(l)', '(o.all(k, k in o) ? 1 : 2)', '(n > 5 ? size(l) : n)',
    ), // prettier-ignore
    { minLength: 1, maxLength: 5 },
  )
  .map((parts) => parts.join(' + '));
const eventOf = (length: number) => ({
  l: Array.from({ length }, (_, index) => index),
  s: 'ab'.repeat(length * 2),
  n: 12.5,
  o: Object.fromEntries(Array.from({ length: length % 50 }, (_, index) => [`k${index}`, index])),
});
const lengths = fc.integer({ min: 1, max: 120 });

describe('the budget', () => {
  property(
    'is monotone: with more of it a value stays what it was, and what was too much for more is too much for less',
    fc.property(
      costly,
      lengths,
      fc.nat(30_000),
      fc.nat(100_000),
      fc.nat(300_000),
      fc.nat(2_000_000),
      (source, length, steps, moreSteps, bytes, moreBytes) => {
        const evaluate = compileMeasured(source, 'here');
        const event = eventOf(length);
        const less = evaluate(event, { steps, bytes });
        const more = evaluate(event, { steps: steps + moreSteps, bytes: bytes + moreBytes });
        const enough = less.steps <= steps && less.bytes <= bytes;
        expect(less.extracted.reason === null).toBe(enough);
        if (enough) expect(more).toEqual(less);
        expect(more.steps).toBeGreaterThanOrEqual(Math.min(less.steps, steps));
        expect(more.bytes).toBeGreaterThanOrEqual(Math.min(less.bytes, bytes));
      },
    ),
    { quick: 100, deep: 10_000 },
  );

  property(
    'is exact: what an evaluation took is enough for it, and less is not',
    fc.property(costly, lengths, (source, length) => {
      const evaluate = compileMeasured(source, 'here');
      const event = eventOf(length);
      const free = evaluate(event, { steps: Infinity, bytes: Infinity });
      const { steps, bytes } = free;
      expect(evaluate(event, { steps, bytes })).toEqual(free);
      if (steps > 0)
        expect(evaluate(event, { steps: steps * 0.99, bytes }).extracted.value).toBeNull();
      if (bytes > 0)
        expect(evaluate(event, { steps, bytes: bytes - 1 }).extracted.value).toBeNull();
    }),
    { quick: 60, deep: 5_000 },
  );

  property(
    'is spent faster on a longer event',
    fc.property(costly, fc.nat(4), fc.integer({ min: 1, max: 4 }), (source, fifties, longer) => {
      const evaluate = compileMeasured(source, 'here');
      const free = { steps: Infinity, bytes: Infinity };
      // In fifties and below the longest list, which is refused without being walked through.
      const short = evaluate(eventOf(fifties * 50), free);
      const long = evaluate(eventOf((fifties + longer) * 50), free);
      expect(long.steps).toBeGreaterThanOrEqual(short.steps);
      expect(long.bytes).toBeGreaterThanOrEqual(short.bytes);
    }),
    { quick: 60, deep: 5_000 },
  );
});

describe('text in text', () => {
  const contains = compileMeasured('t.contains(p) ? 1 : 0', 'here');
  property(
    'is found at its place',
    fc.property(
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 400 }),
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 }),
      (text, part) => {
        const free = { steps: Infinity, bytes: Infinity };
        const { extracted } = contains({ t: text, p: part }, free);
        expect(extracted.value).toBe(text.includes(part) ? '1' : '0');
      },
    ),
    { quick: 1_000, deep: 50_000 },
  );
});

describe('parts of a pattern', () => {
  const piece = fc.constantFrom(
    'a', 'b?', 'c*', '.', '[ab]', '[(]', '[)]', '[]a]', '[^])]', '[[:alpha:])]', '\\d', '\\(', '\\)',
    '\\Q)(\\E', '\\Q\\E', '\\pL', '(', '(?:', '(?i)', '(?i-s)', ')', '{2}', '{0,7}', '{3,}', '{,4}', '{x', '{20}', '|', '^', '$', '+',
  ); // prettier-ignore
  property(
    'are never fewer than what the engine makes of it',
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const pattern = pieces.join('');
      let instructions: number;
      try {
        const engine = RE2JS.compile(pattern) as unknown as { re2(): CompiledProgram };
        instructions = engine.re2().prog.inst.length;
      } catch {
        return;
      }
      expect(instructions).toBeLessThanOrEqual(4 * patternParts(pattern) + 8);
    }),
    { quick: 500, deep: 50_000 },
  );
});

interface CompiledProgram {
  readonly prog: { readonly inst: readonly unknown[] };
}
