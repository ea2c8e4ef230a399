import { RE2JS } from '@bufbuild/re2';
import { Decimal, decimalText } from '../../money.ts';
import { scalarText } from '../json-scalar.ts';
import { MAX_ITEMS, MAX_MATCHED_LENGTH, MAX_STEPS } from './bounds.ts';
import {
  Failure,
  FAILED,
  isList,
  isObject,
  member,
  MISSING,
  order,
  sameValue,
  TEXT_PER_STEP,
  toDecimal,
  type Scope,
  type Value,
} from './value.ts';

/** What an operator or a function does with its values, and how many it takes. */
export interface Operator {
  readonly least: number;
  readonly most: number;
  readonly call: (values: readonly Value[], scope: Scope) => Value;
}

/**
 * Operators and functions by their CEL names. None is called with a failure among its values: the
 * caller hands the first failure on. Arithmetic is exact; a quotient has 40 significant digits until
 * the result of the whole expression is rounded.
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
  ['contains', textual((text, part) => text.includes(part))],
  ['startsWith', textual((text, part) => text.startsWith(part))],
  ['endsWith', textual((text, part) => text.endsWith(part))],
  ['int', unary((value) => value.trunc())],
  ['double', unary((value) => value)],
  ['decimal', unary((value) => value)],
  ['string', { least: 1, most: 1, call: ([value]) => text(value!) }],
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
 * A pattern is a literal and compiled once, by an engine whose time is linear in the text. Throws an
 * error of the engine for a pattern that is malformed or expands too far.
 */
export function matcher(pattern: string): (text: Value, scope: Scope) => Value {
  const compiled = RE2JS.compile(pattern);
  const stepsPerCharacter = 1 + Math.ceil(pattern.length / 16);
  return (value, scope) => {
    if (value instanceof Failure) return value;
    if (typeof value !== 'string' || value.length > MAX_MATCHED_LENGTH) return FAILED;
    scope.steps += value.length * stepsPerCharacter;
    return scope.steps > MAX_STEPS ? FAILED : compiled.test(value);
  };
}

function binary(call: (left: Value, right: Value, scope: Scope) => Value): Operator {
  return { least: 2, most: 2, call: ([left, right], scope) => call(left!, right!, scope) };
}

function unary(call: (value: Decimal) => Value): Operator {
  return {
    least: 1,
    most: 1,
    call: ([value]) => {
      const number = toDecimal(value!);
      return number instanceof Failure ? number : call(number);
    },
  };
}

function numeric(call: (left: Decimal, right: Decimal) => Value): Operator {
  return binary((left, right) => {
    const one = toDecimal(left);
    if (one instanceof Failure) return one;
    const other = toDecimal(right);
    return other instanceof Failure ? other : call(one, other);
  });
}

/** The sign is the dividend's. A remainder takes as many steps as the quotient has digits, so it has few. */
function remainder(left: Decimal, right: Decimal): Value {
  if (right.isZero() || left.e - right.e > MAX_QUOTIENT_DIGITS) return FAILED;
  return left.mod(right);
}

const MAX_QUOTIENT_DIGITS = 100;

/** `math.ceil` is CEL's name, `ceil` what people write. */
function named(name: string, entry: Operator): [string, Operator][] {
  return [
    [name, entry],
    [`math.${name}`, entry],
  ];
}

function compared(holds: (sign: number) => boolean): Operator {
  return binary((left, right, scope) => {
    scope.steps += lengthOf(left) / TEXT_PER_STEP;
    const sign = order(left, right);
    return sign instanceof Failure ? sign : holds(sign);
  });
}

function textual(call: (text: string, part: string) => boolean): Operator {
  return binary((left, right, scope) => {
    if (typeof left !== 'string' || typeof right !== 'string') return FAILED;
    scope.steps += left.length / TEXT_PER_STEP;
    return call(left, right);
  });
}

function extreme(replaces: (sign: number) => boolean): Operator {
  return {
    least: 1,
    most: MAX_ITEMS,
    call: (values, scope) => {
      const items = values.length === 1 && isList(values[0]!) ? values[0] : values;
      if (items.length > MAX_ITEMS) return FAILED;
      scope.steps += items.length;
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

/** Adds numbers, and joins lists for the `map` and `filter` macros. Text is never joined: "1" + "2" is 3. */
function add(left: Value, right: Value, scope: Scope): Value {
  if (isList(left) && isList(right)) {
    if (left.length + right.length > MAX_ITEMS) return FAILED;
    scope.steps += (left.length + right.length) / 32;
    return [...left, ...right];
  }
  const one = toDecimal(left);
  if (one instanceof Failure) return one;
  const other = toDecimal(right);
  return other instanceof Failure ? other : one.plus(other);
}

function equal(left: Value, right: Value, scope: Scope): boolean | Failure {
  const length = Math.min(lengthOf(left), lengthOf(right));
  if (isList(left) && isList(right) && length > MAX_ITEMS) return FAILED;
  scope.steps += isList(left) ? length : length / TEXT_PER_STEP;
  return sameValue(left, right);
}

function contains(item: Value, container: Value, scope: Scope): Value {
  if (isObject(container)) return typeof item === 'string' && member(container, item) !== MISSING;
  if (!isList(container) || container.length > MAX_ITEMS) return FAILED;
  scope.steps += container.length;
  return container.some((candidate) => sameValue(candidate, item) === true);
}

function index(container: Value, key: Value): Value {
  if (isList(container)) {
    const position = toDecimal(key);
    if (position instanceof Failure) return position;
    return position.isInteger() ? (container[position.toNumber()] ?? MISSING) : FAILED;
  }
  return typeof key === 'string' ? member(container, key) : FAILED;
}

/** Characters of a text, items of a list, members of an object. */
function size(value: Value, scope: Scope): Value {
  if (isList(value)) return new Decimal(value.length);
  const isText = typeof value === 'string';
  if (!isText && !isObject(value)) return FAILED;
  const count = isText ? codePoints(value) : Object.keys(value).length;
  scope.steps += isText ? value.length / 64 : count;
  return new Decimal(count);
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

const lengthOf = (value: Value): number =>
  typeof value === 'string' || isList(value) ? value.length : 0;

function text(value: Value): Value {
  if (value instanceof Decimal) {
    return value.abs().gte('1e100') ? FAILED : decimalText(value);
  }
  return scalarText(value) ?? FAILED;
}

const negated = (value: boolean | Failure): boolean | Failure =>
  value instanceof Failure ? value : !value;
