import { parse } from '@bufbuild/cel';
import { invalidField } from '../../errors.ts';
import { Decimal } from '../../money.ts';

export type Expression = ReturnType<typeof parse>;
export type Node = Expression['expr'];

/**
 * The static cost bound (tenancy S14): the event's own size limits the evaluation time of an accepted
 * expression. It is checked when a meter is created, never when an event is counted.
 */
export const MAX_LENGTH = 1_024;
export const MAX_NODES = 200;
export const MAX_DEPTH = 20;
/** Checked before parsing: the parser recurses for each bracket, and input must not exhaust its stack. */
const MAX_OPEN_BRACKETS = 40;
/** Limits of one evaluation: work in steps, and memory for intermediate values. */
export interface Budget {
  readonly steps: number;
  readonly bytes: number;
}

/**
 * A step takes about 0.3 µs, so a list macro over a long list stops after about 30 ms. Both limits are
 * counted, not measured: the result is a function of the event, on every machine and in every replay.
 * For the same reason these numbers never change.
 */
export const BUDGET: Budget = { steps: 100_000, bytes: 16 * 1024 * 1024 };

/** What an evaluation has spent of its budget. Never decreases. */
export interface Spent {
  readonly budget: Budget;
  steps: number;
  bytes: number;
}

/** Records work, and memory before it is allocated. Returns false when the budget is exceeded. */
export function spend(spent: Spent, steps: number, bytes = 0): boolean {
  spent.steps += steps;
  spent.bytes += bytes;
  return isWithin(spent);
}

export const isWithin = ({ budget, steps, bytes }: Spent): boolean =>
  steps <= budget.steps && bytes <= budget.bytes;

/** Memory of one list item, and of a number with 40 digits. */
export const ITEM_BYTES = 8;
export const NUMBER_BYTES = 64;
/** Longer lists are not iterated. */
export const MAX_ITEMS = 1_000;
/** Longer text is not matched against a pattern. */
export const MAX_MATCHED_LENGTH = 4_096;
/** Parts of all patterns of an expression, each counted as often as it may repeat. About 40 ms to compile. */
export const MAX_PATTERN_PARTS = 1_000;

/** Limits of numbers in an expression: far beyond counted values, and small enough to write out. */
const MAX_NUMBER = new Decimal('1e38');
const MIN_NUMBER = new Decimal('1e-100');
const MAX_NUMBER_LENGTH = 100;

/** Why an expression cannot contain this number; null when it can. */
export function numberProblem(text: string): string | null {
  if (text.length > MAX_NUMBER_LENGTH)
    return `a number has at most ${MAX_NUMBER_LENGTH} characters`;
  const magnitude = new Decimal(text).abs();
  const [mantissa = ''] = text.split(/[eE]/, 1);
  // An exponent out of range turns a nonzero number into zero.
  const isZero = !/[1-9]/.test(mantissa);
  if (isZero ? magnitude.isZero() : isWritable(magnitude)) return null;
  return `the number ${text} must be between -1e38 and 1e38, and 0 or at least 1e-100 away from it`;
}

const isWritable = (magnitude: Decimal): boolean =>
  magnitude.lte(MAX_NUMBER) && magnitude.gte(MIN_NUMBER);

/** Parses CEL. Refuses malformed or too large input with `validation_error` at `path`. */
export function parseBounded(source: string, path: string): Expression {
  if (source.trim() === '') throw invalidField(path, 'must not be empty');
  if (source.length > MAX_LENGTH) {
    throw invalidField(path, `must have at most ${MAX_LENGTH} characters`);
  }
  if (openBrackets(source) > MAX_OPEN_BRACKETS) throw tooDeep(path);
  const parsed = parseText(source, path);
  const { nodes, depth } = sizeOf(parsed.expr);
  if (depth > MAX_DEPTH) throw tooDeep(path);
  if (nodes > MAX_NODES) {
    throw invalidField(path, `must have at most ${MAX_NODES} parts, it has ${nodes}`);
  }
  return parsed;
}

/** The direct parts of a node of any kind. */
export function partsOf(node: Node): Node[] {
  const { exprKind } = node;
  switch (exprKind.case) {
    case 'callExpr':
      return present([exprKind.value.target, ...exprKind.value.args]);
    case 'selectExpr':
      return present([exprKind.value.operand]);
    case 'listExpr':
      return exprKind.value.elements;
    case 'structExpr':
      return present(
        exprKind.value.entries.flatMap((entry) => [
          entry.keyKind.case === 'mapKey' ? entry.keyKind.value : undefined,
          entry.value,
        ]),
      );
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
      return present([iterRange, accuInit, loopCondition, loopStep, result]);
    }
    default:
      return [];
  }
}

/** Number of nodes in this subtree, and its depth. */
export function sizeOf(node: Node): { nodes: number; depth: number } {
  let nodes = 1;
  let depth = 0;
  for (const part of partsOf(node)) {
    const inner = sizeOf(part);
    nodes += inner.nodes;
    depth = Math.max(depth, inner.depth);
  }
  return { nodes, depth: depth + 1 };
}

function openBrackets(source: string): number {
  let open = 0;
  let most = 0;
  for (const character of source) {
    if ('([{'.includes(character)) most = Math.max(most, ++open);
    if (')]}'.includes(character)) open -= 1;
  }
  return most;
}

function parseText(source: string, path: string): Expression {
  try {
    return parse(source);
  } catch (error) {
    throw invalidField(path, `is not a CEL expression: ${firstLine(String(error))}`);
  }
}

const tooDeep = (path: string) => invalidField(path, `must be nested at most ${MAX_DEPTH} deep`);
const firstLine = (text: string) => text.split('\n')[0]!.slice(0, 200);
const present = (nodes: readonly (Node | undefined)[]): Node[] =>
  nodes.filter((node) => node !== undefined);
