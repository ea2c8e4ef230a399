import type { z } from 'zod';
import { API_ROUTES } from '../../api/routes.ts';
import { IngestEventBody } from '../../schemas/events/event-bodies.ts';
import { SETTINGS } from '../../schemas/settings/settings.ts';
import { schemasWithin, type Visited } from '../support/schemas.ts';

/** Every schema that a request is held against, under the route or the setting that it belongs to. */
function requestSchemas(): Visited[] {
  const seen = new Set<z.ZodType>();
  const roots: [string, z.ZodType | undefined][] = [
    ...API_ROUTES.flatMap(({ method, path, params, query, body }): typeof roots => [
      [`${method} ${path} path`, params],
      [`${method} ${path} query`, query],
      [`${method} ${path} body`, body],
    ]),
    ...Object.entries(SETTINGS).map(([key, { schema }]): (typeof roots)[number] => [key, schema]),
    ['POST /events body', IngestEventBody],
  ];
  return roots.flatMap(([name, schema]) =>
    schema === undefined ? [] : [...schemasWithin(schema, name, seen)],
  );
}

interface Check {
  readonly check: string;
  readonly abort?: boolean;
}

const checksOf = (schema: z.ZodType): Check[] => {
  const def = schema._zod.def as unknown as Check & {
    readonly checks?: readonly z.core.$ZodCheck[];
  };
  const own = def.check === undefined ? [] : [def];
  return [...own, ...(def.checks ?? []).map((each) => each._zod.def as unknown as Check)];
};

/** Cheap at any length: they read a length, or change letters. */
const CHEAP = new Set(['overwrite', 'min_length', 'max_length', 'length_equals']);

/**
 * A check costs at least its text's length, and a careless one the square of it; so a text that is too
 * long is told so and nothing else reads it. The same for lists and records, whose every item costs.
 */
describe('lengths of what requests send', () => {
  const schemas = requestSchemas();
  const ofType = (type: string) => schemas.filter(({ schema }) => schema._zod.def.type === type);
  const isBounded = (schema: z.ZodType) =>
    checksOf(schema).some(({ check }) => check === 'max_length');

  test('the list is not empty', () => {
    expect(ofType('string').length).toBeGreaterThan(100);
    expect(ofType('array').length).toBeGreaterThan(20);
  });

  test('every text has a length, checked before anything else, and too much of it ends the check', () => {
    const wrong = ofType('string').flatMap(({ path, schema }) => {
      if (!isBounded(schema)) return [`${path}: no length`];
      const checks = checksOf(schema);
      const first = checks.findIndex(({ check }) => !CHEAP.has(check));
      const length = checks.findIndex(
        ({ check, abort }) => check === 'max_length' && abort === true,
      );
      if (length < 0) return [`${path}: the check goes on after the length`];
      return first >= 0 && first < length ? [`${path}: the length comes too late`] : [];
    });
    expect(wrong).toEqual([]);
  });

  test('every list has a length', () => {
    const wrong = ofType('array').filter(({ schema }) => !isBounded(schema));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('every record has a maximum number of keys, and further ones are not parsed', () => {
    const wrong = ofType('record').flatMap(({ path, schema, parent }) => {
      const tooMany = Object.fromEntries(
        Array.from({ length: 10_001 }, (_none, index) => [`k${index}`, {}]),
      );
      const result = (parent ?? schema).safeParse(tooMany);
      return result.success || result.error.issues.length > 1 ? [path] : [];
    });
    expect(wrong).toEqual([]);
  });
});
