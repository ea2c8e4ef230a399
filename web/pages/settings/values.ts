import type * as z from 'zod';
import { durationOf, durationText, secondsOf, type HeldDuration } from './durations.ts';
import type { Field, Fields, SettingForm } from './forms/fields.ts';

type Value = Readonly<Record<string, unknown>>;
interface Pair {
  readonly key: string;
  readonly value: unknown;
}

/** The value of a setting as the fields of its form hold it: numbers and lists are text. */
export function toForm(fields: Fields, value: Value): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, heldBy(field, value[name])]),
  );
}

/**
 * What the fields hold as the API takes it. A field that is not set is null: the API restores its default. In
 * an object inside, it is left out.
 */
export function toApi(fields: Fields, held: Value): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(setIn(fields, held)).map(([name, value]) => [name, value ?? null]),
  );
}

export interface Problem {
  /** Names of the fields from the outside to the inside, as the form has them. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What the schema of the setting finds wrong with the values of its form, at its fields. */
export function problemsOf({ fields, schema }: SettingForm, held: Value): Problem[] {
  const sent = setIn(fields, held);
  const read = schema.safeParse(
    Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)),
  );
  if (read.success) return [];
  return read.error.issues.map((issue) => {
    const place = placeOf(fields, held, issue.path);
    if (issue.code === 'invalid_key') place.path.splice(-1, 1, 'key');
    return { path: place.path, message: messageOf(issue, place) };
  });
}

function messageOf(issue: z.core.$ZodIssue, { value, isWhole, isDuration }: Place): string {
  if (isDuration) return durationMessage(issue);
  if (issue.code === 'invalid_type' && value === '') return 'is required';
  if (issue.code === 'invalid_type' && isWhole) return 'must be a whole number';
  const inner =
    issue.code === 'invalid_union'
      ? issue.errors[0]?.[0]
      : issue.code === 'invalid_key'
        ? issue.issues[0]
        : undefined;
  return (inner ?? issue).message.replace(/^Invalid (input|string): /, '');
}

/** A limit in the words of the field, which are not seconds. */
function durationMessage(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return `must be at most ${durationText(Number(issue.maximum))}`;
  if (issue.code === 'too_small') return `must be at least ${durationText(Number(issue.minimum))}`;
  return 'must be a number of whole seconds, for example 2 or 1.5';
}

interface Place {
  readonly path: (string | number)[];
  /** What the field holds. */
  readonly value: unknown;
  readonly isWhole: boolean;
  readonly isDuration: boolean;
}

/** The field of a form for a path of the API: `min_amount.usd` is, for example, the second row of a list of pairs. */
export function placeOf(
  fields: Fields,
  held: Value,
  [name, ...rest]: readonly PropertyKey[],
): Place {
  const field = fields[String(name)];
  const value = held[String(name)];
  const isWhole = field?.kind === 'whole' || (field?.kind === 'lines' && field.of === 'whole');
  const isDuration = field?.kind === 'duration';
  const path = [String(name), ...(isDuration ? ['amount'] : [])];
  const own = { path, value, isWhole, isDuration };
  const below = (
    part: Fields,
    at: (string | number)[],
    of: unknown,
    path: readonly PropertyKey[],
  ): Place => {
    const found = placeOf(part, (of ?? {}) as Value, path);
    return { ...found, path: [...own.path, ...at, ...found.path] };
  };
  if (field === undefined) return own;
  if (field.kind === 'group')
    return below(
      field.fields,
      [],
      value,
      rest.length > 0 ? rest : [field.unsetWithout ?? Object.keys(field.fields)[0]!],
    );
  if (rest.length === 0) return own;
  if (field.kind === 'rows') {
    const [index, ...inner] = rest as [number, ...PropertyKey[]];
    return below(field.fields, [index], (value as Value[])[index], inner);
  }
  if (field.kind === 'pairs') {
    const [key, ...inner] = rest;
    const index = (value as Pair[]).findIndex((pair) => pair.key.trim() === key);
    const pair = (value as Pair[])[index];
    return below({ value: field.value }, [index], pair, ['value', ...inner]);
  }
  return own;
}

function heldBy(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case 'kept':
      return value;
    case 'switch':
      return value === true;
    case 'choices':
      return value ?? [];
    case 'lines':
      return ((value ?? []) as unknown[]).join('\n');
    case 'choice':
      return typeof value === 'string' ? value : (field.choices[0]?.[0] ?? '');
    case 'duration':
      return durationOf(value);
    case 'group':
      return toForm(field.fields, (value ?? {}) as Value);
    case 'rows':
      return ((value ?? []) as Value[]).map((row) => toForm(field.fields, row));
    case 'pairs':
      return Object.entries((value ?? {}) as Value).map(([key, one]) => ({
        key,
        value: heldBy(field.value, one),
      }));
    default:
      return value === undefined || value === null ? '' : String(value);
  }
}

/** Empty values of new rows. */
export const emptyRow = (fields: Fields): Record<string, unknown> => toForm(fields, {});
export const emptyPair = (value: Field): Pair => ({ key: '', value: heldBy(value, undefined) });

function setIn(fields: Fields, held: Value): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, setBy(field, held[name], held)]),
  );
}

/** An object without the fields that are not set. */
const objectOf = (fields: Fields, held: Value): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(setIn(fields, held)).filter(([, value]) => value !== undefined),
  );

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Text that is not an integer stays unchanged, so that the schema refuses it. */
const wholeOf = (text: string): number | string =>
  /^-?\d{1,15}$/.test(text) ? Number.parseInt(text, 10) : text;

/** Undefined: not set. */
function setBy(field: Field, held: unknown, beside: Value): unknown {
  switch (field.kind) {
    case 'kept':
    case 'switch':
    case 'choices':
      return held;
    case 'choice':
      return held === '' ? undefined : held;
    case 'duration':
      return secondsOf(held as HeldDuration);
    case 'lines':
      return linesOf(String(held)).map((line) => (field.of === 'whole' ? wholeOf(line) : line));
    case 'group':
      if (field.only !== undefined && beside[field.only[0]] !== field.only[1]) return undefined;
      if (field.unsetWithout !== undefined && (held as Value)[field.unsetWithout] === '')
        return undefined;
      return objectOf(field.fields, held as Value);
    case 'rows':
      return (held as Value[]).map((row) => objectOf(field.fields, row));
    case 'pairs':
      return Object.fromEntries(
        (held as Pair[]).map(({ key, value }) => [key.trim(), setBy(field.value, value, {})]),
      );
    default:
      return setText(field, String(held));
  }
}

function setText(field: Field, held: string): unknown {
  const text = held.trim();
  if (field.kind === 'whole') return text === '' ? undefined : wholeOf(text);
  if (field.kind === 'decimal' || field.kind === 'image') return text === '' ? undefined : text;
  if (field.kind === 'text' && field.isUnset === true && text === '') return undefined;
  return held;
}
