import type postgres from 'postgres';
import { parse as parseArray } from 'postgres-array';
import { serializeArray } from './arrays.ts';
import { canonicalDecimal } from './canonical-decimal.ts';

type Types = Record<string, postgres.PostgresType>;

/** Types that we read in our own way: numerics as canonical decimals, times as ISO 8601 text in UTC. */
export const SCALAR_TYPES = {
  numeric: {
    to: 1700,
    from: [1700],
    serialize: (value: unknown) => String(value),
    parse: canonicalDecimal,
  },
  timestamp: {
    to: 1184,
    from: [1082, 1114, 1184],
    serialize: (value: unknown) => (value instanceof Date ? value.toISOString() : String(value)),
    parse: (text: string) => new Date(text).toISOString(),
  },
} satisfies Types;

/** Ids of array types by those of their elements. Postgres never changes the ids of built-in types. */
export const ARRAYS_OF: Readonly<Record<string, readonly [element: number, array: number]>> = {
  bool: [16, 1000],
  bytea: [17, 1001],
  name: [19, 1003],
  int8: [20, 1016],
  int2: [21, 1005],
  int4: [23, 1007],
  text: [25, 1009],
  oid: [26, 1028],
  json: [114, 199],
  float4: [700, 1021],
  float8: [701, 1022],
  bpchar: [1042, 1014],
  varchar: [1043, 1015],
  date: [1082, 1182],
  timestamp: [1114, 1115],
  timestamptz: [1184, 1185],
  interval: [1186, 1187],
  numeric: [1700, 1231],
  uuid: [2950, 2951],
  jsonb: [3802, 3807],
};

/**
 * The types of arrays, with which the driver does not ask each new connection for them. An array of another type
 * is text.
 */
export function arrayTypes({
  parsers,
  serializers,
}: Pick<postgres.ParsedOptions, 'parsers' | 'serializers'>): Types {
  const types = Object.entries(ARRAYS_OF).map(([name, [element, array]]) => {
    const parse = parsers[element] ?? ((text: string) => text);
    const serialize = serializers[element] ?? String;
    const type: postgres.PostgresType = {
      to: array,
      from: [array],
      parse: (text: string) => parseArray(text, parse),
      serialize: (values: unknown) => serializeArray(values, serialize),
    };
    return [`${name}_array`, type] as const;
  });
  return Object.fromEntries(types);
}
