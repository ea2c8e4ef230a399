import { z } from 'zod';
import { BillingError, cut, DETAILS_MAX, type ErrorDetail } from '../../domain/errors.ts';
import { boundMessage } from '../../schemas/bound-message.ts';
import type { UnknownKey } from './near-misses.ts';

/**
 * A problem costs about a microsecond to find and ten to describe. Requests with more values than this are
 * checked only up to their first problem, so that half a million wrong values do not block the process.
 */
const FULLY_CHECKED_VALUES_MAX = 5_000;

/**
 * Parses or throws 400 with the first 100 problems, each under the path that the client wrote, and the number
 * of problems found.
 */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  where: 'body' | 'query' | 'path',
): z.output<Schema> {
  const context: z.core.ParseContextInternal = {
    async: false,
    error: messageOf,
    abortEarly: hasMoreValuesThan(value, FULLY_CHECKED_VALUES_MAX),
  };
  const payload = schema._zod.run({ value, issues: [] }, context);
  if (payload instanceof Promise) throw new z.core.$ZodAsyncError();
  const found = payload.issues;
  if (found.length === 0) return payload.value as z.output<Schema>;
  const issues = found
    .slice(0, DETAILS_MAX)
    .flatMap((issue) => closest(z.core.util.finalizeIssue(issue, context, z.config())));
  const details = issues.map((issue) => detailOf(issue, where, value));
  const count = details.length + Math.max(0, found.length - DETAILS_MAX);
  const first = details[0]!;
  const more = count === 1 ? '' : ` (and ${count - 1} more)`;
  const message = `${first.path}: ${first.message}${more}`;
  throw new BillingError('invalid', 'validation_error', message, details, count);
}

/** Whether lists and objects at all depths have more items than `max`; checks no more than `max` items. */
function hasMoreValuesThan(root: unknown, max: number): boolean {
  const pending: unknown[] = [root];
  let seen = 0;
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) continue;
    const items: unknown[] = Array.isArray(value) ? value : Object.values(value);
    seen += items.length;
    if (seen > max) return true;
    for (const item of items) if (typeof item === 'object' && item !== null) pending.push(item);
  }
  return false;
}

/**
 * For a value that fits none of several forms, and without a message of its own: the problems of the closest
 * form. The closest form is the one with the deepest problem; the first one on a tie.
 */
function closest(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.message !== 'Invalid input') return [issue];
  const forms = issue.errors
    .filter((form) => form.length > 0)
    .map((form) =>
      form.flatMap((each) => closest({ ...each, path: [...issue.path, ...each.path] })),
    );
  const depth = (form: readonly z.core.$ZodIssue[]) =>
    Math.max(...form.map(({ path }) => path.length));
  const deepest = Math.max(...forms.map(depth));
  return forms.find((form) => depth(form) === deepest) ?? [issue];
}

/** How many characters of a wrong value a message repeats. */
const VALUE_LENGTH_MAX = 60;

/** The product's words where a schema has none of its own; undefined leaves the words to zod. */
const messageOf: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'invalid_value' ? optionMessage(issue) : boundMessage(issue);

/** Names the allowed values, and the text that was sent instead. */
function optionMessage({ values, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidValue>) {
  if (values.length === 1) return undefined;
  const allowed = z.core.util.joinValues(values, '|');
  return typeof input === 'string'
    ? `${JSON.stringify(cut(input, VALUE_LENGTH_MAX))} is not one of: ${allowed}`
    : `must be one of: ${allowed}`;
}

const ABSENT = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

function detailOf(issue: z.core.$ZodIssue, where: string, root: unknown): ErrorDetail {
  const path = issue.path.length === 0 ? where : fieldPath(issue.path);
  if (ABSENT.has(issue.code) && isAbsent(root, issue.path))
    return { path, code: 'required', message: 'is required' };
  const { code, message } = firstOf(issue);
  const words = message.replace(/^Invalid input: /, '');
  return { path, code: code === 'custom' ? 'invalid_value' : code, message: words };
}

/** If all of several forms are wrong, the problem of the first one: "Invalid input" does not help. */
function firstOf(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  const hasWords = issue.code !== 'invalid_union' || issue.message !== 'Invalid input';
  const first = hasWords ? undefined : issue.errors[0]?.[0];
  return first === undefined ? issue : firstOf(first);
}

/** Whether the client sent nothing there. The items of a list that a query has as one text were sent. */
function isAbsent(root: unknown, path: readonly PropertyKey[]): boolean {
  let value = root;
  for (const part of path) {
    if (value === undefined || value === null) return true;
    if (typeof value !== 'object') return false;
    if (!Object.hasOwn(value, part)) return true;
    value = (value as Record<PropertyKey, unknown>)[part];
  }
  return value === undefined;
}

/**
 * `['tiers', 1, 'up_to']` → `tiers[1].up_to`. Keys come from the client and may have any length;
 * `BillingError` truncates them.
 */
export function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((part, index) => {
      if (typeof part === 'number') return `[${part}]`;
      return index === 0 ? String(part) : `.${String(part)}`;
    })
    .join('');
}

/**
 * Paths of the keys that the schema does not know, at any depth. They are ignored (a client may send more
 * than we know) but named in the answer: otherwise a misspelt optional field would be lost silently. At most
 * 1,000: the answer has room for fewer.
 */
export function unknownFields(schema: z.ZodType, value: unknown): string[] {
  return unknownKeys(schema, value).map(({ path }) => path);
}

/** The same, with the keys that the schema knows in each place. */
export function unknownKeys(schema: z.ZodType, value: unknown): UnknownKey[] {
  const found: UnknownKey[] = [];
  collect(schema, value, [], found);
  return found;
}

const UNKNOWN_FIELDS_MAX = 1_000;

function collect(
  schema: z.ZodType,
  value: unknown,
  path: PropertyKey[],
  found: UnknownKey[],
): void {
  if (found.length >= UNKNOWN_FIELDS_MAX) return;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodUnion) {
    const perOption = inner.options.map((option) => {
      const unknown: UnknownKey[] = [];
      collect(option as z.ZodType, value, path, unknown);
      return new Map(unknown.map((each) => [each.path, each]));
    });
    const [first, ...rest] = perOption;
    for (const each of first?.values() ?? []) {
      const others = rest.map((option) => option.get(each.path));
      if (others.includes(undefined)) continue;
      const siblings = [each, ...others].flatMap((other) => other!.siblings);
      found.push({ ...each, siblings });
    }
  } else if (inner instanceof z.ZodArray && Array.isArray(value)) {
    value.forEach((item, index) =>
      collect(inner.element as z.ZodType, item, [...path, index], found),
    );
  } else if (inner instanceof z.ZodObject && isPlainObject(value)) {
    const shape = inner.shape as Record<string, z.ZodType>;
    const catchall = inner.def.catchall;
    let siblings: readonly string[] | null = null;
    for (const [key, item] of Object.entries(value)) {
      const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
      if (known !== undefined) collect(known, item, [...path, key], found);
      else if (catchall === undefined || catchall instanceof z.ZodNever) {
        if (found.length >= UNKNOWN_FIELDS_MAX) return;
        siblings ??= Object.keys(shape);
        found.push({ path: fieldPath([...path, key]), key, siblings, sent: value });
      }
    }
  } else if (inner instanceof z.ZodRecord && isPlainObject(value)) {
    for (const [key, item] of Object.entries(value))
      collect(inner.valueType as z.ZodType, item, [...path, key], found);
  }
}

const unwrapped = new WeakMap<z.ZodType, z.ZodType>();

/** Whether the schema is an object with the key. */
export function hasKey(schema: z.ZodType, key: string): boolean {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject && Object.hasOwn(inner.shape as object, key);
}

/** The schema that defines the keys: without optional, nullable, default, pipe and lazy around it. */
function unwrap(schema: z.ZodType): z.ZodType {
  const known = unwrapped.get(schema);
  if (known !== undefined) return known;
  const inner = unwrapOnce(schema);
  unwrapped.set(schema, inner);
  return inner;
}

function unwrapOnce(schema: z.ZodType): z.ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  )
    return unwrap(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodPipe) {
    const from = schema.in as z.ZodType;
    return unwrap(from instanceof z.ZodTransform ? (schema.out as z.ZodType) : from);
  }
  if (schema instanceof z.ZodLazy) return unwrap(schema.unwrap() as z.ZodType);
  return schema;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
