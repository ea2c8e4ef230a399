import { RE2JS } from '@bufbuild/re2';
import { Decimal, decimalText } from '../../money.ts';
import { scalarText } from '../../json-scalar.ts';
import {
  isWithin,
  ITEM_BYTES,
  MAX_ITEMS,
  MAX_MATCHED_LENGTH,
  NUMBER_BYTES,
  spend,
} from './bounds.ts';
import { includesText } from './includes-text.ts';
import { patternParts } from './pattern-parts.ts';
import {
  Failure,
  FAILED,
  isList,
  isObject,
  lengthOf,
  member,
  MISSING,
  order,
  sameValue,
  TEXT_PER_STEP,
  toDecimal,
  type Scope,
  type Value,
} from './value.ts';

/** The implementation of an operator or function, and its number of arguments. */
export interface Operator {
  readonly least: number;
  readonly most: number;
  readonly call: (values: readonly Value[], scope: Scope) => Value;
}

/**
 * Operators and functions by their CEL names. None receives a failure: the caller returns the first
 * failure instead. Arithmetic is exact; a quotient has 40 significant digits until the result of the
 * whole expression is rounded.
 */
export const FUNCTIONS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['_+_', binary(add)],
  ['_-_', numeric((left, right) => left.minus(right))],
  ['_*_', numeric((left, right) => left.times(right))],
  ['_/_', numeric((left, right) => (right.isZero() ? FAILED : left.div(right)))],
  ['_%_', numeric(remainder)],
  ['-_', unary((value) => value.neg())],
  ['!_', { least: 1, most: 1, call: ([value]) => (typeof value === 'boolean' ? !value : FAILED) }],
  ['_==_', binary(equal)],
  ['_!=_', binary((left, right, scope) => negated(equal(left, right, scope)))],
  ['_<_', compared((sign) => sign < 0)],
  ['_<=_', compared((sign) => sign <= 0)],
  ['_>_', compared((sign) => sign > 0)],
  ['_>=_', compared((sign) => sign >= 0)],
  ['@in', binary(contains)],
  ['_[_]', binary(index)],
  ['@not_strictly_false', { least: 1, most: 1, call: ([value]) => value !== false }],
  ['size', { least: 1, most: 1, call: ([value], scope) => size(value!, scope) }],
  ['contains', textual(includesText)],
  ['startsWith', textual((text, part) => text.startsWith(part))],
  ['endsWith', textual((text, part) => text.endsWith(part))],
  ['int', unary((value) => value.trunc())],
  ['double', unary((value) => value)],
  ['decimal', unary((value) => value)],
  ['string', { least: 1, most: 1, call: ([value], scope) => text(value!, scope) }],
  ...named(
    'ceil',
    unary((value) => value.ceil()),
  ),
  ...named(
    'floor',
    unary((value) => value.floor()),
  ),
  ...named(
    'round',
    unary((value) => value.round()),
  ),
  ...named(
    'trunc',
    unary((value) => value.trunc()),
  ),
  ...named(
    'abs',
    unary((value) => value.abs()),
  ),
  ...named(
    'sign',
    unary((value) => new Decimal(value.isZero() ? 0 : value.s)),
  ),
  ['min', extreme((sign) => sign < 0)],
  ['math.least', extreme((sign) => sign < 0)],
  ['max', extreme((sign) => sign > 0)],
  ['math.greatest', extreme((sign) => sign > 0)],
]);

/**
 * Compiles a literal pattern once; the engine's matching time is linear in the text. Throws an error of
 * the engine for a malformed pattern or one that expands too far.
 */
export function matcher(pattern: string): (text: Value, scope: Scope) => Value {
  const compiled = RE2JS.compile(pattern);
  const stepsPerCharacter = 1 + Math.ceil(patternParts(pattern) / 16);
  return (value, scope) => {
    if (value instanceof Failure) return value;
    if (typeof value !== 'string' || value.length > MAX_MATCHED_LENGTH) return FAILED;
    return spend(scope, value.length * stepsPerCharacter) ? compiled.test(value) : FAILED;
  };
}

function binary(call: (left: Value, right: Value, scope: Scope) => Value): Operator {
  return { least: 2, most: 2, call: ([left, right], scope) => call(left!, right!, scope) };
}

function unary(call: (value: Decimal) => Value): Operator {
  return {
    least: 1,
    most: 1,
    call: ([value], scope) => {
      const number = toDecimal(value!);
      if (number instanceof Failure) return number;
      return spend(scope, 0, NUMBER_BYTES) ? call(number) : FAILED;
    },
  };
}

function numeric(call: (left: Decimal, right: Decimal) => Value): Operator {
  return binary((left, right, scope) => {
    const one = toDecimal(left);
    if (one instanceof Failure) return one;
    const other = toDecimal(right);
    if (other instanceof Failure) return other;
    return spend(scope, 0, NUMBER_BYTES) ? call(one, other) : FAILED;
  });
}

/**
 * The sign is that of the dividend. A remainder takes one step per digit of the quotient, so these are
 * limited.
 */
function remainder(left: Decimal, right: Decimal): Value {
  if (right.isZero() || left.e - right.e > MAX_QUOTIENT_DIGITS) return FAILED;
  return left.mod(right);
}

const MAX_QUOTIENT_DIGITS = 100;

/** `math.ceil` is the CEL name, `ceil` the common one. */
function named(name: string, entry: Operator): [string, Operator][] {
  return [
    [name, entry],
    [`math.${name}`, entry],
  ];
}

function compared(holds: (sign: number) => boolean): Operator {
  return binary((left, right, scope) => {
    if (!spend(scope, lengthOf(left) / TEXT_PER_STEP)) return FAILED;
    const sign = order(left, right);
    return sign instanceof Failure ? sign : holds(sign);
  });
}

function textual(call: (text: string, part: string, scope: Scope) => Value): Operator {
  return binary((left, right, scope) => {
    if (typeof left !== 'string' || typeof right !== 'string') return FAILED;
    return spend(scope, left.length / TEXT_PER_STEP) ? call(left, right, scope) : FAILED;
  });
}

function extreme(replaces: (sign: number) => boolean): Operator {
  return {
    least: 1,
    most: MAX_ITEMS,
    call: (values, scope) => {
      const items = values.length === 1 && isList(values[0]!) ? values[0] : values;
      if (items.length > MAX_ITEMS) return FAILED;
      if (!spend(scope, items.length)) return FAILED;
      let best: Decimal | null = null;
      for (const item of items) {
        const number = toDecimal(item);
        if (number instanceof Failure) return number;
        if (best === null || replaces(number.cmp(best))) best = number;
      }
      return best ?? MISSING;
    },
  };
}

/**
 * Adds numbers, and concatenates lists for the `map` and `filter` macros. Never concatenates text: "1" + "2"
 * is 3.
 */
function add(left: Value, right: Value, scope: Scope): Value {
  if (isList(left) && isList(right)) {
    if (left.length + right.length > MAX_ITEMS) return FAILED;
    const length = left.length + right.length;
    return spend(scope, length / 32, length * ITEM_BYTES) ? [...left, ...right] : FAILED;
  }
  const one = toDecimal(left);
  if (one instanceof Failure) return one;
  const other = toDecimal(right);
  if (other instanceof Failure) return other;
  return spend(scope, 0, NUMBER_BYTES) ? one.plus(other) : FAILED;
}

function equal(left: Value, right: Value, scope: Scope): boolean | Failure {
  const length = Math.min(lengthOf(left), lengthOf(right));
  if (isList(left) && isList(right) && length > MAX_ITEMS) return FAILED;
  const same = sameValue(left, right, scope);
  return isWithin(scope) ? same : FAILED;
}

function contains(item: Value, container: Value, scope: Scope): Value {
  if (isObject(container)) return typeof item === 'string' && member(container, item) !== MISSING;
  if (!isList(container) || container.length > MAX_ITEMS) return FAILED;
  if (!spend(scope, container.length)) return FAILED;
  const found = container.some((candidate) => sameValue(candidate, item, scope) === true);
  return isWithin(scope) ? found : FAILED;
}

function index(container: Value, key: Value): Value {
  if (isList(container)) {
    const position = toDecimal(key);
    if (position instanceof Failure) return position;
    return position.isInteger() ? (container[position.toNumber()] ?? MISSING) : FAILED;
  }
  return typeof key === 'string' ? member(container, key) : FAILED;
}

/** Characters of a text, items of a list, or members of an object. */
function size(value: Value, scope: Scope): Value {
  if (isList(value)) return new Decimal(value.length);
  const isText = typeof value === 'string';
  if (!isText && !isObject(value)) return FAILED;
  if (isText && !spend(scope, value.length / 64)) return FAILED;
  const count = isText ? codePoints(value) : Object.keys(value).length;
  return isText || spend(scope, count, count * ITEM_BYTES) ? new Decimal(count) : FAILED;
}

function codePoints(text: string): number {
  let count = text.length;
  for (let index = 0; index + 1 < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count -= 1;
      index += 1;
    }
  }
  return count;
}

/** A number is written without an exponent, so it has at most 100 digits before and after the point. */
function text(value: Value, scope: Scope): Value {
  if (!(value instanceof Decimal)) return scalarText(value) ?? FAILED;
  const places = Math.abs(value.e);
  if (places > MAX_TEXT_PLACES || !spend(scope, 1, 2 * (places + value.precision()))) return FAILED;
  return decimalText(value);
}

const MAX_TEXT_PLACES = 99;

const negated = (value: boolean | Failure): boolean | Failure =>
  value instanceof Failure ? value : !value;
