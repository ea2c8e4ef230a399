const times = (text: string, count: number): string => text.repeat(count);
const list = (item: string, count: number): string => `[${times(`${item},`, count - 1)}${item}]`;
const keys = (count: number): string =>
  `{${Array.from({ length: count }, (_none, index) => `"k${index}":"v"`).join(',')}}`;

type HostileTable = readonly (readonly [name: string, json: string])[];

/**
 * The same texts, each in one piece of memory. The engine keeps a repetition as a tree until it is first read, so
 * that otherwise the heap of a bench would grow by its own requests.
 */
function flat(table: HostileTable): HostileTable {
  return table.map(([name, json]) => [name, Buffer.from(json).toString()] as const);
}

/** As many objects as a body may have values, each with as many distinct keys as an object may have. */
const objectsOfKeys = (objects: number, keysEach: number): string =>
  `[${Array.from({ length: objects }, (_none, index) => keys(keysEach).replaceAll('"k', `"k${index}-`)).join(',')}]`;

/**
 * What a request sends in place of a field's value, as JSON text: half of a surrogate pair and an exponent of a
 * million have no other form. The first column names the value where a test fails.
 */
export const HOSTILE_VALUES: HostileTable = flat([
  ['a script', '"<script>alert(1)</script>"'],
  ['a quote of SQL', `"'; drop table plans; --"`],
  ['NUL', '"a\\u0000b"'],
  ['right-to-left override', '"a\\u202eb"'],
  ['half of a surrogate pair', '"\\ud800"'],
  ['emoji', '"\u{1f469}\u200d\u{1f469}\u200d\u{1f467}"'],
  ['1e+1000000', '1e+1000000'],
  ['1e-1000000', '1e-1000000'],
  ['1e+1000000 as text', '"1e+1000000"'],
  ['1e-1000000 as text', '"1e-1000000"'],
  ['-0', '-0'],
  ['-0 as text', '"-0"'],
  ['38 digits', times('9', 38)],
  ['38 digits as text', `"${times('9', 38)}"`],
  ['38 places as text', `"0.${times('0', 37)}1"`],
  ['10,000 letters', `"${times('x', 10_000)}"`],
  ['10,000 digits as text', `"${times('9', 10_000)}"`],
  ['10,000 spaces around a letter', `"${times(' ', 5_000)}x${times(' ', 5_000)}"`],
  ['__proto__', '"__proto__"'],
  ['constructor', '"constructor"'],
  ['a key __proto__', '{"__proto__":{"polluted":"1"}}'],
  ['a key constructor', '{"constructor":{"prototype":{"polluted":"1"}}}'],
  ['keys of every object', '{"toString":"x","hasOwnProperty":"x","":"x","then":"x"}'],
  ['a key of 10,000 letters', `{"${times('k', 10_000)}":"v"}`],
  ['10,000 keys', keys(10_000)],
  ['12 lists in each other', `${times('[', 12)}${times(']', 12)}`],
  ['10,000 lists in each other', `${times('[', 10_000)}${times(']', 10_000)}`],
  ['10,000 objects in each other', `${times('{"a":', 10_000)}1${times('}', 10_000)}`],
  ['10,000 texts', list('"x"', 10_000)],
  ['10,000 objects', list('{}', 10_000)],
  ['10,000 nulls', list('null', 10_000)],
  ['19,000 texts', list('"x"', 19_000)],
  ['19,000 texts of 40 letters', list(`"${times('x', 40)}"`, 19_000)],
  ['9 objects of 2,000 keys', objectsOfKeys(9, 2_000)],
  ['180 objects of 100 keys', objectsOfKeys(180, 100)],
  ['nothing', '""'],
  ['white space', '" \\t\\n\\u00a0\\u2028 "'],
  ['null', 'null'],
  ['a truth value', 'true'],
]);

/** Bodies that are hostile as a whole, of any operation with a body. */
export const HOSTILE_BODIES: HostileTable = flat([
  ['a megabyte of a string without end', `{"name":"${times('a', 1_000_000)}`],
  ['a megabyte of escapes without end', `{"name":"${times('\\', 1_000_000)}`],
  ['a megabyte of digits', `{"name":${times('9', 1_000_000)}}`],
  ['a megabyte of open lists', times('[', 1_000_000)],
  ['a megabyte of one repeated key', `{${times('"a":1,', 160_000)}"a":1}`],
  ['a megabyte of keys', keys(70_000)],
  ['a megabyte of texts', list('"x"', 250_000)],
]);

/** Of operations that take events, whose bodies may be larger. */
export const HOSTILE_EVENT_BODIES: HostileTable = flat([
  ['two megabytes of one repeated list', `{${times('"events":[],', 166_000)}"events":[]}`],
  ['two megabytes of one repeated name', `{${times('"event_name":1,', 139_000)}"source":""}`],
  ['two megabytes of empty events', `{"events":${list('{}', 650_000)}}`],
  ['two megabytes of properties', `{"event_name":"call","properties":${keys(140_000)}}`],
  ['two megabytes of a string without end', `{"event_name":"${times('a', 2_000_000)}`],
]); // prettier-ignore
