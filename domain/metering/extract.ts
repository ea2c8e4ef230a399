import {
  scalarText,
  numericText,
  whyNotNumeric,
  type UnmeteredReason,
  type Properties,
} from '../json-scalar.ts';

/** A value as canonical decimal text, or the reason why there is none. */
export type Extracted =
  | { readonly value: string; readonly reason: null }
  | { readonly value: null; readonly reason: UnmeteredReason };

/** The number in `field` (metering 6: a numeric string is a number; missing or not numeric is not metered). */
export function extractNumber(properties: Properties, field: string): Extracted {
  const property = properties[field];
  const value = numericText(property);
  return value === null ? REFUSED[whyNotNumeric(property)] : { value, reason: null };
}

/**
 * The text that COUNT_UNIQUE compares: the text of the JSON scalar in `field`, so that 5 and "5" are one
 * value. Null when the event lacks it; the event is then not counted.
 */
export function extractUniqueValue(properties: Properties, field: string): string | null {
  return scalarText(properties[field]);
}

/**
 * Values of the dimensions, in their order, for grouping and for the filters of prices. The empty string
 * when the event lacks the property or it is not a scalar (metering 6).
 */
export function extractDimensions(
  properties: Properties,
  dimensions: readonly string[],
): readonly string[] {
  if (dimensions.length === 0) return NO_DIMENSIONS;
  return dimensions.map((name) => scalarText(properties[name]) ?? '');
}

/** Created once: refusals are frequent when a meter's field is optional. */
export const REFUSED: Readonly<Record<UnmeteredReason, Extracted>> = {
  value_missing: { value: null, reason: 'value_missing' },
  value_not_numeric: { value: null, reason: 'value_not_numeric' },
  value_out_of_range: { value: null, reason: 'value_out_of_range' },
  expression_failed: { value: null, reason: 'expression_failed' },
};

const NO_DIMENSIONS: readonly string[] = [];
