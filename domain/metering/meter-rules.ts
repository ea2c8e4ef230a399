import { invalidField } from '../errors.ts';
import { compileExpression } from './expression.ts';
import type { AggregationType, MeterSpec } from './usage.ts';

const WITH_EXPRESSION: readonly AggregationType[] = [
  'SUM', 'AVG', 'MAX', 'MIN', 'LATEST', 'SUM_WITH_MULTIPLIER', 'WEIGHTED_SUM',
]; // prettier-ignore
const WITH_BUCKET: readonly AggregationType[] = ['MAX', 'SUM'];

/** Whether the aggregation type accepts an expression (metering 6). */
export const takesExpression = (type: AggregationType): boolean => WITH_EXPRESSION.includes(type);

/**
 * Refuses a meter with contradicting fields (metering 6). Every type but COUNT reads a `field` or an
 * `expression`, never both. `multiplier` belongs to SUM_WITH_MULTIPLIER. Buckets are for MAX and SUM.
 * `group_by` needs MAX with buckets. 400 `validation_error` at the field, below `path` when the meter is
 * part of a larger body (`meter.`).
 */
export function assertMeterSpec(spec: MeterSpec, path = ''): void {
  const { type, field, expression, multiplier, bucket_size, group_by } = spec.aggregation;
  const refuse = (name: string, message: string) =>
    invalidField(`${path}aggregation.${name}`, message);

  if (field !== null && expression !== null)
    throw refuse('expression', 'give a field or an expression, not both');
  if (expression !== null && !takesExpression(type))
    throw refuse('expression', `${type} takes no expression; use ${WITH_EXPRESSION.join(' or ')}`);
  if (type !== 'COUNT' && field === null && expression === null)
    throw refuse(
      'field',
      `${type} needs a field${type === 'COUNT_UNIQUE' ? '' : ' or an expression'}`,
    );
  if (type === 'SUM_WITH_MULTIPLIER' && multiplier === null)
    throw refuse('multiplier', 'is required for SUM_WITH_MULTIPLIER and must be greater than 0');
  if (type !== 'SUM_WITH_MULTIPLIER' && multiplier !== null)
    throw refuse('multiplier', `${type} takes no multiplier; use SUM_WITH_MULTIPLIER`);
  if (bucket_size !== null && !WITH_BUCKET.includes(type))
    throw refuse('bucket_size', `only for ${WITH_BUCKET.join(' and ')}`);
  if (group_by !== null && (type !== 'MAX' || bucket_size === null))
    throw refuse('group_by', 'only for MAX with a bucket_size');
  if (expression !== null) compileExpression(expression, `${path}aggregation.expression`);
  const keys = spec.filters.map((filter) => filter.key);
  const twice = keys.findIndex((key, index) => keys.indexOf(key) !== index);
  if (twice !== -1)
    throw invalidField(`${path}filters[${twice}].key`, `"${keys[twice]}" is a duplicate key`);
}

/** Properties whose values are kept with each usage row of the meter, sorted. */
export function meterDimensions(
  groupBy: string | null,
  filteredProperties: readonly string[],
): string[] {
  const names = [...(groupBy === null ? [] : [groupBy]), ...filteredProperties];
  return [...new Set(names)].sort();
}
