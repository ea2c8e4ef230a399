import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BillingError } from '../../domain/errors.ts';
import { differences, type Answer, type Difference, type JsonObject } from './compare.ts';
import { UnsupportedCase, type AreaOperations, type Operation } from './operation.ts';

export interface GoldenCase {
  readonly id: string;
  readonly area: string;
  readonly given: JsonObject;
  readonly expect: JsonObject;
  readonly note?: string;
}

/** A case whose figures a rule page contradicts. `expect` has ours, which are checked instead. */
export interface Contradiction {
  readonly id: string;
  /** Page and section of the rule that decides, and its content. */
  readonly rule: string;
  readonly expect: JsonObject;
}

export type Outcome =
  | { readonly kind: 'passed' }
  /** The operation, or the word of the case, that is not known. */
  | { readonly kind: 'unsupported'; readonly what: string }
  | { readonly kind: 'contradicted'; readonly rule: string; readonly ours: JsonObject }
  | { readonly kind: 'failed'; readonly differences: readonly Difference[] };

export type Registry = Readonly<Record<string, AreaOperations>>;

/** Every case of every `*.json` below the directory, but for `disputed.json`, in the order of the files. */
export function loadCases(directory: string): GoldenCase[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json') && !/(^|\/)disputed\.json$/.test(name))
    .sort()
    .flatMap((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as GoldenCase[]);
}

export function loadContradictions(): Contradiction[] {
  const file = new URL('contradicted.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as Contradiction[];
}

export function runCase(
  golden: GoldenCase,
  registry: Registry,
  contradictions: readonly Contradiction[],
): Outcome {
  const operation = operationFor(golden, registry);
  if (operation === undefined) return { kind: 'unsupported', what: operationName(golden) };
  const contradiction = contradictions.find(({ id }) => id === golden.id);
  const expected = contradiction?.expect ?? golden.expect;
  const currency = golden.given['currency'];
  let found: Difference[];
  try {
    found = outcomeDifferences(
      operation,
      golden,
      expected,
      typeof currency === 'string' ? currency : 'usd',
    );
  } catch (error) {
    if (!(error instanceof UnsupportedCase)) throw error;
    return { kind: 'unsupported', what: `${operationName(golden)}, ${error.message}` };
  }
  if (found.length > 0) return { kind: 'failed', differences: found };
  return contradiction === undefined
    ? { kind: 'passed' }
    : { kind: 'contradicted', rule: contradiction.rule, ours: contradiction.expect };
}

/** The text of a run, the tally last, and whether every case passed or is overruled by a page. */
export function report(
  cases: readonly GoldenCase[],
  registry: Registry,
  contradictions: readonly Contradiction[],
): { text: string; ok: boolean } {
  const lines: string[] = [];
  const tally = { passed: 0, failed: 0, unsupported: 0, contradicted: 0 };
  for (const golden of cases) {
    const outcome = runCase(golden, registry, contradictions);
    tally[outcome.kind] += 1;
    lines.push(...describeOutcome(golden, outcome));
  }
  if (tally.contradicted > 0) lines.push(`overruled by a page: ${tally.contradicted}`);
  lines.push(
    `golden: ${tally.passed} passed, ${tally.failed} failed, ${tally.unsupported} unsupported`,
  );
  return { text: lines.join('\n'), ok: tally.failed === 0 && tally.unsupported === 0 };
}

export function describeOutcome(golden: GoldenCase, outcome: Outcome): string[] {
  switch (outcome.kind) {
    case 'passed':
      return [];
    case 'unsupported':
      return [`unsupported ${golden.id} (${golden.area}: ${outcome.what})`];
    case 'contradicted':
      return [`contradicted ${golden.id}: ${outcome.rule}; ours ${JSON.stringify(outcome.ours)}`];
    case 'failed':
      return [
        `failed ${golden.id}`,
        ...outcome.differences
          .slice(0, 5)
          .map(({ path, expected, actual }) => `  ${path}: expected ${expected}, got ${actual}`),
      ];
    default:
      return outcome satisfies never;
  }
}

const operationName = ({ given }: GoldenCase): string => String(given['operation'] ?? 'peers');

const operationFor = (golden: GoldenCase, registry: Registry): Operation | undefined =>
  registry[golden.area]?.[operationName(golden)];

function outcomeDifferences(
  operation: Operation,
  golden: GoldenCase,
  expected: JsonObject,
  currency: string,
): Difference[] {
  try {
    const answer = operation(golden.given, expected);
    return differences(expected, accepted(answer), currency);
  } catch (error) {
    if (error instanceof BillingError) {
      const refusal = { error: true, accepted: false, valid: false, message: error.message };
      return differences(expected, refusal, currency);
    }
    if (error instanceof UnsupportedCase) throw error;
    // A bug in our code is a failed case and must not hide the others.
    return [{ path: '', expected: JSON.stringify(expected), actual: String(error) }];
  }
}

function accepted(answer: Answer): Answer {
  const plain = typeof answer === 'object' && answer !== null && !Array.isArray(answer);
  return plain ? { error: false, accepted: true, valid: true, ...answer } : answer;
}
