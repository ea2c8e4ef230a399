import { Decimal } from '../../money.ts';
import { spend, type Spent } from './bounds.ts';
import {
  type Properties,
  numericText,
  whyNotNumeric,
  type UnmeteredReason,
} from '../../json-scalar.ts';

/**
 * The value of a part of an expression: a JSON value of the event, or a result. Numbers of the event stay
 * JavaScript numbers until arithmetic converts them to exact decimals. Failures are values, not
 * exceptions, because missing properties are frequent.
 */
export type Value =
  | Decimal
  | number
  | string
  | boolean
  | null
  | readonly Value[]
  | { readonly [key: string]: Value }
  | Failure;

/**
 * One evaluation: the event's properties, the variables of the running comprehension, and the budget spent.
 */
export interface Scope extends Spent {
  readonly properties: Properties;
  item: Value;
  accumulator: Value;
}

/** Characters of text per step of work: iterating text is cheap, iterating a list is not. */
export const TEXT_PER_STEP = 256;

export class Failure {
  readonly reason: UnmeteredReason;
  constructor(reason: UnmeteredReason) {
    this.reason = reason;
  }
}

export const MISSING = new Failure('value_missing');
export const NOT_NUMERIC = new Failure('value_not_numeric');
export const OUT_OF_RANGE = new Failure('value_out_of_range');
/** A type that an operator cannot take, a division by zero, or more work than the budget allows. */
export const FAILED = new Failure('expression_failed');

/** A value as a number, including numeric strings; a failure for other values. */
export function toDecimal(value: Value): Decimal | Failure {
  if (value instanceof Failure || value instanceof Decimal) return value;
  const text = numericText(value);
  return text === null ? failureOf(whyNotNumeric(value)) : new Decimal(text);
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isObject(value: Value): value is { readonly [key: string]: Value } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !isList(value) &&
    !(value instanceof Failure) &&
    !(value instanceof Decimal)
  );
}

/** An own member that is not null; inherited members are ignored. */
export function member(value: Value, key: string): Value {
  if (value instanceof Failure) return value;
  if (!isObject(value)) return FAILED;
  return Object.hasOwn(value, key) ? (value[key] ?? MISSING) : MISSING;
}

/**
 * Equality. A number equals every numerically equal value, including "5.0". Two strings are compared as
 * text, lists item by item. Values of different kinds are not equal. Iterating a list costs budget at
 * every level: an event may have a short list of long lists.
 */
export function sameValue(left: Value, right: Value, scope: Scope): boolean | Failure {
  if (left instanceof Failure) return left;
  if (right instanceof Failure) return right;
  if (isNumber(left) || isNumber(right)) {
    const one = toDecimal(left);
    const other = toDecimal(right);
    return one instanceof Decimal && other instanceof Decimal && one.eq(other);
  }
  if (isList(left) && isList(right)) {
    if (left.length !== right.length) return false;
    if (!spend(scope, left.length)) return FAILED;
    return left.every((item, index) => sameValue(item, right[index]!, scope) === true);
  }
  if (isObject(left) || isObject(right)) return FAILED;
  spend(scope, Math.min(lengthOf(left), lengthOf(right)) / TEXT_PER_STEP);
  return left === right;
}

/** Characters of a text, or items of a list. */
export const lengthOf = (value: Value): number =>
  typeof value === 'string' || isList(value) ? value.length : 0;

/** Negative, zero or positive: numbers and numeric strings by value, other strings by code unit. */
export function order(left: Value, right: Value): number | Failure {
  if (left instanceof Failure) return left;
  if (right instanceof Failure) return right;
  const one = toDecimal(left);
  const other = toDecimal(right);
  if (one instanceof Decimal && other instanceof Decimal) return one.cmp(other);
  if (typeof left === 'string' && typeof right === 'string') {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  return one instanceof Failure ? one : (other as Failure);
}

const isNumber = (value: Value): boolean => typeof value === 'number' || value instanceof Decimal;

function failureOf(reason: UnmeteredReason): Failure {
  switch (reason) {
    case 'value_missing':
      return MISSING;
    case 'value_not_numeric':
      return NOT_NUMERIC;
    case 'value_out_of_range':
      return OUT_OF_RANGE;
    case 'expression_failed':
      return FAILED;
    default:
      return reason satisfies never;
  }
}
