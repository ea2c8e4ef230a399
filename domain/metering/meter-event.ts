import assert from 'node:assert/strict';
import { extractDimensions, extractNumber, extractUniqueValue } from './extract.ts';
import { compileExpression } from './expression.ts';
import type { UnmeteredReason, Properties } from '../json-scalar.ts';
import { decimal, decimalText, MAX_DECIMALS } from '../money.ts';
import { compileFilters } from './match.ts';
import type { MeterVersion } from './usage.ts';

export interface MeterableEvent {
  readonly event_name: string;
  /** The parsed object; `{}` when the event has none. */
  readonly properties: Properties;
}

/** Result of one event for one meter. */
export type Metering =
  /** Another event name, or a filter that does not match: the event is not for this meter. */
  | { readonly outcome: 'unmatched' }
  /** The event is for this meter but has no usable value. The event debugger shows the reason. */
  | { readonly outcome: 'unmetered'; readonly reason: UnmeteredReason }
  | {
      readonly outcome: 'metered';
      /** Canonical decimal text, at most 20 integer and 18 decimal digits. `1` for COUNT and COUNT_UNIQUE. */
      readonly value: string;
      /**
       * COUNT_UNIQUE: the text for counting distinct values (the store keeps a hash of it). Otherwise null.
       */
      readonly unique_value: string | null;
      /** Values of `MeterVersion.dimensions`, in its order; the empty string when the event lacks one. */
      readonly dimensions: readonly string[];
    };

export type CompiledMeter = (event: MeterableEvent) => Metering;

/**
 * A meter version as a function of an event, for the stream. Filters and expression are compiled once;
 * most events cost one or two map look-ups. Pure: every replay gives the same result. An expression that
 * was accepted at creation always compiles; a failure is a bug and throws.
 */
export function compileMeter(version: MeterVersion): CompiledMeter {
  const { event_name, filters } = version.spec;
  const matches = compileFilters(filters);
  const meter = valueReader(version);
  return (event) => {
    if (event.event_name !== event_name || !matches(event.properties)) return UNMATCHED;
    return meter(event.properties);
  };
}

/**
 * The value of one event: its own value, times the multiplier if the meter has one (metering 6).
 * At most 18 decimals, like every quantity.
 */
export function multipliedValue({ aggregation }: MeterVersion['spec'], value: string): string {
  const { multiplier } = aggregation;
  if (multiplier === null) return value;
  return decimalText(decimal(value).times(multiplier).toDecimalPlaces(MAX_DECIMALS));
}

const UNMATCHED: Metering = { outcome: 'unmatched' };
const UNMETERED: Readonly<Record<UnmeteredReason, Metering>> = {
  value_missing: { outcome: 'unmetered', reason: 'value_missing' },
  value_not_numeric: { outcome: 'unmetered', reason: 'value_not_numeric' },
  value_out_of_range: { outcome: 'unmetered', reason: 'value_out_of_range' },
  expression_failed: { outcome: 'unmetered', reason: 'expression_failed' },
};

function valueReader({
  spec,
  dimensions: names,
}: MeterVersion): (properties: Properties) => Metering {
  const { type, field, expression } = spec.aggregation;
  const metered = (properties: Properties, value: string, unique: string | null): Metering => ({
    outcome: 'metered',
    value,
    unique_value: unique,
    dimensions: extractDimensions(properties, names),
  });

  if (type === 'COUNT') return (properties) => metered(properties, '1', null);
  if (type === 'COUNT_UNIQUE') {
    assert(field !== null, 'COUNT_UNIQUE without field');
    return (properties) => {
      const unique = extractUniqueValue(properties, field);
      return unique === null ? UNMETERED.value_missing : metered(properties, '1', unique);
    };
  }
  if (expression !== null) {
    const evaluate = compileExpression(expression);
    return (properties) => {
      const { value, reason } = evaluate(properties);
      return value === null ? UNMETERED[reason] : metered(properties, value, null);
    };
  }
  assert(field !== null, `${type} without field or expression`);
  return (properties) => {
    const { value, reason } = extractNumber(properties, field);
    return value === null ? UNMETERED[reason] : metered(properties, value, null);
  };
}
