/**
 * Text of a property as filters and distinct counts compare it (metering 6): a string unchanged, a number as
 * canonical decimal text, `true`, `false`; null for all other values. `key` is a parameter in braces, never a
 * name in the statement.
 */
export function scalarText(key: string): string {
  const raw = `JSONExtractRaw(properties, ${key})`;
  return `multiIf(
    JSONType(properties, ${key}) = 'String', JSONExtractString(properties, ${key}),
    JSONType(properties, ${key}) in ('Int64', 'UInt64', 'Double'),
      ifNull(toString(toDecimal256OrNull(${raw}, 18)), ${raw}),
    JSONType(properties, ${key}) = 'Bool', ${raw},
    null)`;
}

/** The white space that `String.prototype.trim` removes, as `numericText` does before it reads a number. */
const WHITE_SPACE =
  '[\\\\t-\\\\r \\\\x{A0}\\\\x{1680}\\\\x{2000}-\\\\x{200A}\\\\x{2028}\\\\x{2029}\\\\x{202F}\\\\x{205F}\\\\x{3000}\\\\x{FEFF}]+';

/**
 * The number in a text, as Decimal256 with 18 decimals. Null if the text is not a number, or has more than 20
 * digits before the point or 18 after it: an event with that value is not metered.
 */
export function numericValue(text: string): string {
  const digits = `replaceRegexpAll(${text}, '^${WHITE_SPACE}|${WHITE_SPACE}$', '')`;
  return `if(lengthUTF8(${text}) <= 100
     and match(assumeNotNull(${digits}), '^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]{1,4})?$')
     and abs(toDecimal256OrNull(${digits}, 18)) < toDecimal256('100000000000000000000', 18)
     and toDecimal256OrNull(${digits}, 18) = toDecimal256OrNull(${digits}, 37),
     toDecimal256OrNull(${digits}, 18), null)`;
}

/**
 * AND of keys, OR of values, compared as text; a missing key does not match. Parameter names begin with
 * `name`.
 */
export function propertyFilters(
  filters: Readonly<Record<string, readonly string[]>>,
  name = 'filter',
): { readonly sql: string; readonly params: Readonly<Record<string, unknown>> } {
  const entries = Object.entries(filters);
  return {
    sql: entries
      .map(
        (_, index) =>
          `and ifNull(has({${name}_values_${index}:Array(String)}, ${scalarText(`{${name}_key_${index}:String}`)}), false)`,
      )
      .join('\n'),
    params: Object.fromEntries(
      entries.flatMap(([key, values], index) => [
        [`${name}_key_${index}`, key],
        [`${name}_values_${index}`, values],
      ]),
    ),
  };
}
