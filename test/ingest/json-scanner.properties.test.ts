import fc from 'fast-check';
import { JsonScanner, MalformedJson, numberProblem } from '../../ingest/json-scanner.ts';
import { property } from '../support/properties.ts';

function scannerAccepts(text: string): boolean {
  const scanner = new JsonScanner(Buffer.from(text));
  try {
    scanner.skip();
    scanner.end();
    return true;
  } catch (error) {
    if (error instanceof MalformedJson) return false;
    throw error;
  }
}

function platformAccepts(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Good JSON, good JSON with one change, and soup of the characters that JSON is made of. */
const good = fc.json({ maxDepth: 5 });
const changed = fc
  .tuple(good, fc.nat(), fc.constantFrom(...'{}[]",:\\-+.eE0123456789tfnu \t\n\u0001é', ''))
  .map(([text, at, char]) => {
    const position = at % (text.length + 1);
    return text.slice(0, position) + char + text.slice(position + (at % 2));
  });
const soup = fc
  .array(
    fc.constantFrom(
      '{', '}', '[', ']', '"', ',', ':', '\\', '\\u0041', '\\u00', '-', '+', '.', 'e', 'E', '0', '12',
      'true', 'fals', 'null', ' ', '\n', '"a"', '"a":', '1.5', '1.', '.5', '01', '1e5', '1e', '\u0000', '😀',
    ), // prettier-ignore
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));
const anyText = fc.oneof(good, changed, soup);

property(
  'the scanner accepts what JSON.parse accepts, and nothing else',
  fc.property(anyText, (text) => {
    expect([text, scannerAccepts(text)]).toEqual([text, platformAccepts(text)]);
  }),
  { quick: 5_000, deep: 400_000 },
);

property(
  'the text of an object is the object',
  fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()), (value) => {
    const text = JSON.stringify(value);
    const scanner = new JsonScanner(Buffer.from(`  ${text} `));
    expect(scanner.propertiesText()).toBe(text);
    scanner.end();
    const isClean = !Object.hasOwn(value, '__proto__') && Object.keys(value).length <= 256;
    if (scanner.propertiesProblem?.code === 'duplicate_key' || !isClean)
      expect(isClean).toBe(scanner.propertiesProblem === null);
  }),
  { quick: 2_000 },
);

property(
  'strings have the value that JSON.parse gives them',
  fc.property(fc.string({ unit: 'binary' }), fc.boolean(), (value, escapeAll) => {
    const text = escapeAll
      ? `"${[...value]
          .map((c) => [...c].map((u) => u).join(''))
          .join('')
          .replace(/[^]/gu, escaped)}"`
      : JSON.stringify(value);
    expect(new JsonScanner(Buffer.from(text)).string()).toBe(JSON.parse(text));
  }),
  { quick: 2_000 },
);

function escaped(char: string): string {
  return Array.from({ length: char.length }, (_, unit) => {
    return `\\u${char.charCodeAt(unit).toString(16).padStart(4, '0')}`;
  }).join('');
}

property(
  'a number is accepted when its digits fit, however it is written',
  fc.property(
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.integer({ min: -45, max: 45 }),
    fc.boolean(),
    (mantissa, exponent, plain) => {
      const digits = mantissa.toString();
      // The same number written with an exponent, or with as many zeros as it takes.
      const text = plain ? plainText(digits, exponent) : `${digits}e${exponent}`;
      const significant = digits.replace(/0+$/, '').replace(/^0+/, '');
      const zeros = digits.length - digits.replace(/0+$/, '').length;
      const lowest = exponent + zeros;
      const highest = exponent + digits.length;
      const total = Math.max(highest, 0) + Math.max(-lowest, 0);
      const fits = mantissa === 0n ? true : significant.length <= 15 && total <= 38;
      const exponentTooLarge = !plain && Math.abs(exponent) > 38;
      expect([text, numberProblem(text) === null]).toEqual([text, fits && !exponentTooLarge]);
    },
  ),
  { quick: 5_000 },
);

function plainText(digits: string, exponent: number): string {
  if (exponent >= 0) return digits === '0' ? '0' : digits + '0'.repeat(exponent);
  const padded = digits.padStart(-exponent + 1, '0');
  return `${padded.slice(0, exponent)}.${padded.slice(exponent)}`;
}
