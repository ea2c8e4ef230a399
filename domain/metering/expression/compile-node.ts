import { invalidField } from '../../errors.ts';
import { Decimal } from '../../money.ts';
import {
  ITEM_BYTES,
  MAX_ITEMS,
  MAX_PATTERN_PARTS,
  numberProblem,
  sizeOf,
  spend,
  type Expression,
  type Node,
} from './bounds.ts';
import { FUNCTIONS, matcher } from './functions.ts';
import { patternParts } from './pattern-parts.ts';
import {
  Failure,
  FAILED,
  isList,
  isObject,
  member,
  MISSING,
  type Scope,
  type Value,
} from './value.ts';

export type Evaluate = (scope: Scope) => Value;

interface Context {
  readonly source: string;
  readonly path: string;
  readonly positions: Readonly<Record<string, number>>;
  /** Variables of the enclosing comprehension; null outside of one. */
  readonly loop: { readonly item: string; readonly accumulator: string } | null;
  /** Total parts of all patterns so far. */
  readonly patterns: { parts: number };
}

/**
 * Compiles a parsed expression to closures, so that evaluation walks no tree. Refuses unsupported features.
 */
export function compileParsed(parsed: Expression, source: string, path: string): Evaluate {
  const positions = parsed.sourceInfo?.positions ?? {};
  return compileNode(parsed.expr, {
    source,
    path,
    positions,
    loop: null,
    patterns: { parts: 0 },
  });
}

function compileNode(node: Node, context: Context): Evaluate {
  const { exprKind } = node;
  switch (exprKind.case) {
    case 'constExpr':
      return compileConstant(node, context);
    case 'identExpr':
      return compileIdentifier(exprKind.value.name, context);
    case 'selectExpr': {
      const { operand, field, testOnly } = exprKind.value;
      return testOnly
        ? compilePresence(required(operand, context), field, context)
        : compileMember(required(operand, context), field, context);
    }
    case 'callExpr':
      return compileCall(exprKind.value, context);
    case 'listExpr': {
      const items = exprKind.value.elements.map((element) => compileNode(element, context));
      const bytes = items.length * ITEM_BYTES;
      return (scope) => (spend(scope, 0, bytes) ? evaluateAll(items, scope) : FAILED);
    }
    case 'comprehensionExpr':
      return compileComprehension(exprKind.value, context);
    default:
      throw refused(context, 'objects and types cannot be created in an expression');
  }
}

/** Numbers are read from the source text, because the parser's double loses digits. */
function compileConstant(node: Node, context: Context): Evaluate {
  const kind = (node.exprKind.value as { constantKind: { case?: string; value?: unknown } })
    .constantKind;
  switch (kind.case) {
    case 'stringValue':
    case 'boolValue': {
      const value = kind.value as string | boolean;
      return () => value;
    }
    case 'nullValue':
      return () => null;
    case 'int64Value':
    case 'uint64Value':
    case 'doubleValue': {
      const number = new Decimal(literalText(node, kind.value as bigint | number, context));
      return () => number;
    }
    default:
      throw refused(context, 'bytes are not supported');
  }
}

function literalText(node: Node, parsed: bigint | number, context: Context): string {
  // Macros create whole numbers that do not occur in the source.
  const position = context.positions[node.id.toString()] ?? 0;
  const text =
    typeof parsed === 'bigint'
      ? parsed.toString()
      : DOUBLE.exec(context.source.slice(position))?.[0];
  if (text === undefined || parsed === Infinity || parsed === -Infinity)
    throw refused(context, `cannot read the number at ${position}`);
  const problem = numberProblem(text);
  if (problem !== null) throw refused(context, problem);
  return text;
}

const DOUBLE = /^-?\d*\.?\d+(?:[eE][+-]?\d+)?/;

/** A name is the comprehension's variable, `properties`, or the name of a property. */
function compileIdentifier(name: string, context: Context): Evaluate {
  if (name === context.loop?.item) return (scope) => scope.item;
  if (name === context.loop?.accumulator) return (scope) => scope.accumulator;
  if (name === 'properties') return (scope) => scope.properties as { [key: string]: Value };
  return (scope) => member(scope.properties as { [key: string]: Value }, name);
}

function compileMember(operand: Node, field: string, context: Context): Evaluate {
  const evaluate = compileNode(operand, context);
  return (scope) => member(evaluate(scope), field);
}

/** `has(x.y)`: true when it exists and is not null; false also when x itself is missing. */
function compilePresence(operand: Node, field: string, context: Context): Evaluate {
  const evaluate = compileNode(operand, context);
  return (scope) => {
    const value = evaluate(scope);
    if (value instanceof Failure) return value === MISSING ? false : value;
    return isObject(value) ? member(value, field) !== MISSING : FAILED;
  };
}

interface Call {
  readonly function: string;
  readonly target?: Node | undefined;
  readonly args: Node[];
}

function compileCall(call: Call, context: Context): Evaluate {
  const { target } = call;
  const inMath = target?.exprKind.case === 'identExpr' && target.exprKind.value.name === 'math';
  const name = inMath ? `math.${call.function}` : call.function;
  const nodes = target === undefined || inMath ? call.args : [target, ...call.args];
  if (name === 'matches') return compileMatches(nodes, context);

  const parts = nodes.map((node) => compileNode(node, context));
  if (name === '_&&_') return logical(parts, false);
  if (name === '_||_') return logical(parts, true);
  if (name === '_?_:_') return conditional(parts as [Evaluate, Evaluate, Evaluate]);
  const found = FUNCTIONS.get(name);
  if (found === undefined) throw refused(context, `there is no function ${name}`);
  if (parts.length < found.least || parts.length > found.most) {
    throw refused(context, `${name} has the wrong number of arguments`);
  }
  if (name === '@not_strictly_false') return (scope) => found.call([parts[0]!(scope)], scope);
  return (scope) => {
    const values = evaluateAll(parts, scope);
    return values instanceof Failure ? values : found.call(values as readonly Value[], scope);
  };
}

function compileMatches(nodes: readonly Node[], context: Context): Evaluate {
  const [text, pattern] = nodes;
  const literal = pattern?.exprKind.case === 'constExpr' && pattern.exprKind.value.constantKind;
  if (nodes.length !== 2 || !literal || literal.case !== 'stringValue') {
    throw refused(context, 'matches needs a literal pattern');
  }
  try {
    // Checked before the engine compiles the pattern: a part repeated a thousand times is compiled a thousand
    // times.
    context.patterns.parts += patternParts(literal.value);
    if (context.patterns.parts > MAX_PATTERN_PARTS)
      throw new Error(`it repeats more than ${MAX_PATTERN_PARTS} parts`);
    const matches = matcher(literal.value);
    const evaluate = compileNode(text!, context);
    return (scope) => matches(evaluate(scope), scope);
  } catch (error) {
    throw refused(context, `has a bad pattern: ${String(error).slice(0, 200)}`);
  }
}

/**
 * `&&` and `||` as in CEL: the deciding value wins on either side, even when the other side fails. So
 * `has(a) && a > 1` and its mirror image give the same result.
 */
function logical(parts: readonly Evaluate[], deciding: boolean): Evaluate {
  return (scope) => {
    let failure: Failure | null = null;
    for (const part of parts) {
      const value = part(scope);
      if (value === deciding) return deciding;
      if (value instanceof Failure) failure ??= value;
      else if (typeof value !== 'boolean') failure ??= FAILED;
    }
    return failure ?? !deciding;
  };
}

function conditional([condition, whenTrue, whenFalse]: [Evaluate, Evaluate, Evaluate]): Evaluate {
  return (scope) => {
    const value = condition(scope);
    if (value instanceof Failure) return value;
    if (typeof value !== 'boolean') return FAILED;
    return value ? whenTrue(scope) : whenFalse(scope);
  };
}

interface Comprehension {
  readonly iterVar: string;
  readonly accuVar: string;
  readonly iterRange?: Node | undefined;
  readonly accuInit?: Node | undefined;
  readonly loopCondition?: Node | undefined;
  readonly loopStep?: Node | undefined;
  readonly result?: Node | undefined;
}

/** The macros `all`, `exists`, `exists_one`, `map` and `filter`, over a list or the keys of an object. */
function compileComprehension(loop: Comprehension, context: Context): Evaluate {
  if (context.loop !== null) throw refused(context, 'list macros cannot be nested');
  const inner = { ...context, loop: { item: loop.iterVar, accumulator: loop.accuVar } };
  const range = compileNode(required(loop.iterRange, context), context);
  const [start, condition, step, result] = [
    loop.accuInit,
    loop.loopCondition,
    loop.loopStep,
    loop.result,
  ].map((node) => compileNode(required(node, context), inner)) as [
    Evaluate,
    Evaluate,
    Evaluate,
    Evaluate,
  ];
  const stepsPerItem = sizeOf(loop.loopStep!).nodes + sizeOf(loop.loopCondition!).nodes;
  return (scope) => {
    const container = range(scope);
    if (container instanceof Failure) return container;
    const items = isObject(container) ? Object.keys(container) : container;
    if (!isList(items) || items.length > MAX_ITEMS) return FAILED;
    if (isObject(container) && !spend(scope, 0, items.length * ITEM_BYTES)) return FAILED;
    scope.accumulator = start(scope);
    for (const item of items) {
      if (!spend(scope, stepsPerItem)) return FAILED;
      scope.item = item ?? MISSING;
      if (condition(scope) === false) break;
      scope.accumulator = step(scope);
    }
    return result(scope);
  };
}

function evaluateAll(parts: readonly Evaluate[], scope: Scope): readonly Value[] | Failure {
  const values: Value[] = [];
  for (const part of parts) {
    const value = part(scope);
    if (value instanceof Failure) return value;
    values.push(value);
  }
  return values;
}

function required(node: Node | undefined, context: Context): Node {
  if (node === undefined) throw refused(context, 'is incomplete');
  return node;
}

const refused = (context: Context, message: string) => invalidField(context.path, message);
