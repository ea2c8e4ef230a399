import { decimalText, isStorable, roundToStorage, type Decimal } from '../money.ts';
import { BUDGET, isWithin, parseBounded, type Budget } from './expression/bounds.ts';
import { compileParsed } from './expression/compile-node.ts';
import { Failure, toDecimal, type Scope } from './expression/value.ts';
import { REFUSED, type Extracted } from './extract.ts';
import type { Properties } from '../json-scalar.ts';

/**
 * Compiles a meter's CEL expression, once. It reads `properties.tokens`, or `tokens` for short, and
 * returns a number. Its numbers are exact decimals; numeric strings are numbers. Supported: arithmetic
 * (`+ - * / %`), comparison, `&& || !`, `c ? a : b`, `in`, `has()`, indexing, the list macros (not
 * nested), `size contains startsWith endsWith matches int double decimal string min max abs ceil floor
 * round trunc sign` and the same under `math.`.
 *
 * The result is rounded once, to 18 decimals, half away from zero. An event that lacks a property in use,
 * or for which the expression fails, is not metered; the reason is returned. Evaluation is a pure
 * function of the event: no time limit can make a replay differ. The cost is bounded when the expression
 * is accepted, and by a budget of steps and bytes during evaluation (tenancy S14).
 *
 * Refuses with `validation_error` at `path`: malformed text, more than 1,024 characters, 200 parts or 20
 * levels, an unknown function, a pattern that is not a literal or repeats too much, a number beyond 1e38 or
 * closer to 0 than 1e-100.
 */
export function compileExpression(
  source: string,
  path = 'aggregation.expression',
): (properties: Properties) => Extracted {
  const evaluate = compileMeasured(source, path);
  return (properties) => evaluate(properties, BUDGET).extracted;
}

/** The result and its cost. */
export interface Measured {
  readonly extracted: Extracted;
  readonly steps: number;
  readonly bytes: number;
}

/** Like `compileExpression`, with a budget for each evaluation. */
export function compileMeasured(
  source: string,
  path: string,
): (properties: Properties, budget: Budget) => Measured {
  const evaluate = compileParsed(parseBounded(source, path), source, path);
  return (properties, budget) => {
    const scope: Scope = { properties, item: null, accumulator: null, budget, steps: 0, bytes: 0 };
    const result = toDecimal(evaluate(scope));
    // Fails even when the result did not need the part that exceeded the budget: an exhausted budget never
    // decides.
    const extracted = isWithin(scope) ? extractedOf(result) : REFUSED.expression_failed;
    return { extracted, steps: scope.steps, bytes: scope.bytes };
  };
}

function extractedOf(result: Decimal | Failure): Extracted {
  if (result instanceof Failure) return REFUSED[result.reason];
  const value = roundToStorage(result);
  if (!isStorable(value)) return REFUSED.value_out_of_range;
  return { value: decimalText(value), reason: null };
}
