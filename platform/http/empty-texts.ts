import { z } from 'zod';
import { isEmptyWhenUnset } from '../../schemas/primitives.ts';

type Filler = (value: unknown) => unknown;

/**
 * Replaces null with "" where the schema of an answer requires it (api 37), at any depth: existing browser
 * clients print "null". Rows keep null, so that the database and the code have one value for unset. Null if
 * the schema has no such text. Copies what it changes, because a handler may keep the object that it returns.
 */
export function emptyTextsOf(schema: z.ZodType): Filler | null {
  if (isEmptyWhenUnset(schema)) return (value) => value ?? '';
  const before = compiled.get(schema);
  if (before !== undefined) return before;
  // A recursive schema is reached again through its members; by the time that is called, it is compiled.
  compiled.set(schema, (value) => compiled.get(schema)?.(value) ?? value);
  const made = compileParts(schema);
  compiled.set(schema, made);
  return made;
}

/** Schemas of answers contain one another: of 134 ms of CPU time to register all routes, 83 compiled copies. */
const compiled = new WeakMap<z.ZodType, Filler | null>();

function compileParts(schema: z.ZodType): Filler | null {
  const of = (inner: unknown): Filler | null => emptyTextsOf(inner as z.ZodType);
  if (schema instanceof z.ZodObject) {
    const fillers = Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(
      ([key, inner]) => {
        const filler = of(inner);
        return filler === null ? [] : [[key, filler] as const];
      },
    );
    return fillers.length === 0 ? null : (value) => fillObject(value, fillers);
  }
  if (schema instanceof z.ZodArray) {
    const filler = of(schema.element);
    return filler === null ? null : (value) => fillList(value, filler);
  }
  if (schema instanceof z.ZodUnion) {
    const fillers = schema.options.flatMap((option) => of(option) ?? []);
    if (fillers.length === 0) return null;
    return (value) => fillers.reduce((filled, filler) => filler(filled), value);
  }
  if (
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodReadonly
  ) {
    const filler = of(schema.unwrap());
    return filler === null ? null : (value) => (value == null ? value : filler(value));
  }
  if (schema instanceof z.ZodLazy) {
    const filler = of(schema.unwrap());
    return filler;
  }
  return null;
}

function fillObject(value: unknown, fillers: readonly (readonly [string, Filler])[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Record<string, unknown>;
  let filled: Record<string, unknown> | null = null;
  for (const [key, filler] of fillers) {
    const before = record[key];
    if (before === undefined) continue;
    const after = filler(before);
    if (after === before) continue;
    filled ??= { ...record };
    filled[key] = after;
  }
  return filled ?? value;
}

function fillList(value: unknown, filler: Filler): unknown {
  if (!Array.isArray(value)) return value;
  let filled: unknown[] | null = null;
  for (const [index, before] of value.entries()) {
    const after = filler(before);
    if (after === before) continue;
    filled ??= [...value];
    filled[index] = after;
  }
  return filled ?? value;
}
