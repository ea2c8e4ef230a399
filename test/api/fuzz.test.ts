import { apiDocument } from '../../api/app.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { isErrorBody } from '../support/error-body.ts';
import { createRandom, type Random } from '../support/random.ts';
import { createWorld, type World } from '../support/world.ts';

/** `DEEP=1` (`npm run test:deep`) sends them all; `SEED=n` repeats a run. */
const REQUESTS = process.env['DEEP'] === '1' ? 20_000 : 1_000;
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly format?: string;
  readonly $ref?: string;
}
interface Operation {
  readonly parameters: readonly { name: string; in: string; schema: Schema }[];
  readonly requestBody?: { content: { 'application/json'?: { schema: Schema } } };
  readonly security?: readonly unknown[];
}
const document = apiDocument() as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const HOSTILE: readonly unknown[] = [
  null, '', ' ', 0, -1, 1e308, -1e-308, 9007199254740993, 1.5, true, [], {}, [null], [[[]]],
  "'; drop table plans; --", '%', '_%\\', '\u0000', '\ud800', 'é'.repeat(300), 'x'.repeat(20_000),
  '0x10', '1e5', 'NaN', '-0', '99999999999999999999', '100000000000000000000', '0.1234567890123456789',
  '2026-02-30T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999+14:00', '2026-01-01',
  { constructor: { prototype: {} } }, { toString: 'x' }, '../../etc/passwd', '${7*7}', '\u202e',
  2 ** 31, -(2 ** 31) - 1, 2 ** 53, '9223372036854775808',
]; // prettier-ignore

function value(random: Random, schema: Schema, ids: readonly string[], depth = 0): unknown {
  if (random.chance(0.06)) return random.pick(HOSTILE);
  if (schema.$ref !== undefined)
    return value(
      random,
      document.components.schemas[schema.$ref.split('/').at(-1)!] ?? {},
      ids,
      depth,
    );
  if (schema.enum !== undefined) return random.pick(schema.enum);
  if (schema.anyOf !== undefined) return value(random, random.pick(schema.anyOf), ids, depth);
  switch (schema.type) {
    case 'object':
      return object(random, schema, ids, depth);
    case 'array':
      return Array.from({ length: random.below(4) }, () =>
        value(random, schema.items ?? {}, ids, depth + 1),
      );
    case 'integer':
    case 'number':
      return random.below(random.pick([2, 10, 1000, 2 ** 31]));
    case 'boolean':
      return random.chance(0.5);
    case 'string':
      if (schema.format === 'date-time') return new Date(1.7e12 + random.below(1e11)).toISOString();
      return random.pick([
        random.pick(ids),
        'usd',
        '12.5',
        '3',
        'UTC',
        'name',
        `key-${random.below(50)}`,
      ]);
    default:
      return random.pick(HOSTILE);
  }
}

function object(random: Random, schema: Schema, ids: readonly string[], depth: number): unknown {
  const known = Object.entries(schema.properties ?? {});
  if (known.length === 0)
    return depth > 3
      ? {}
      : {
          [random.pick(['a', 'region', ''])]: value(
            random,
            typeof schema.additionalProperties === 'object' ? schema.additionalProperties : {},
            ids,
            depth + 1,
          ),
        };
  return Object.fromEntries(
    known
      .filter(([name]) => random.chance(schema.required?.includes(name) === true ? 0.95 : 0.35))
      .map(([name, property]) => [name, value(random, property, ids, depth + 1)]),
  );
}

describe('requests made up from the OpenAPI document', () => {
  let api: TestApi;
  let world: World;
  beforeAll(async () => {
    api = await startTestApi();
    world = await createWorld(api);
  });
  afterAll(() => api.close());

  test(`${REQUESTS} requests, SEED=${SEED}: none is answered 5xx, every answer is as declared`, async () => {
    const random = createRandom(SEED);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    // Not what ends the caller itself, or costs 50 ms each by design.
    const sampled = operations.filter(
      ({ path }) => !path.startsWith('/auth/') && !path.endsWith('/remove'),
    );
    const statuses: Record<string, number> = {};
    const serverErrors: string[] = [];
    const invalid: string[] = [];
    for (let count = 0; count < REQUESTS; count += 1) {
      const { path, method, operation } = random.pick(sampled);
      const url = path.replace(/\{[a-z_]+\}/g, () =>
        encodeURIComponent(
          random.chance(0.8) ? random.pick(world.ids) : toText(random.pick(HOSTILE)).slice(0, 300),
        ),
      );
      const query = operation.parameters
        .filter((parameter) => parameter.in === 'query' && random.chance(0.4))
        .map(
          ({ name, schema }) =>
            `${name}=${encodeURIComponent(toText(value(random, schema, world.ids)))}`,
        );
      const schema = operation.requestBody?.content['application/json']?.schema;
      const body = schema === undefined ? undefined : value(random, schema, world.ids);
      const target = `/v1${url}${query.length === 0 ? '' : `?${query.join('&')}`}`;
      // Named whole, so that it can be sent again.
      const request = `${method} ${target} ${JSON.stringify(body)?.slice(0, 2_000)}`;
      try {
        const payload = body === undefined ? undefined : JSON.stringify(body);
        const { status, body: answer } = await api.call(method.toUpperCase(), target, payload, {
          'content-type': 'application/json',
        });
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status >= 500) serverErrors.push(request);
        else if (status >= 400 && !isErrorBody(answer, status)) invalid.push(request);
      } catch (error) {
        const found = `${request}\n${String(error)}\n${causeOf(error)}`;
        (/answered 5\d\d/.test(String(error)) ? serverErrors : invalid).push(found);
      }
    }
    process.stdout.write(
      `fuzz=${REQUESTS} 5xx=${serverErrors.length} invalid_responses=${invalid.length} SEED=${SEED}\n`,
    );
    expect(serverErrors.slice(0, 5)).toEqual([]);
    expect(invalid.slice(0, 5)).toEqual([]);
    const successes = Object.entries(statuses).filter(([status]) => status < '300');
    expect(successes.reduce((sum, [, count]) => sum + count, 0)).toBeGreaterThan(REQUESTS / 50);
  }, 1_800_000);
});

function causeOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error ? (cause.stack ?? cause.message) : '';
}

/** Half of a surrogate pair has no form in a URL. */
const toText = (given: unknown): string =>
  (typeof given === 'string' ? given : JSON.stringify(given))
    .replace(/[\ud800-\udfff]/g, '')
    .slice(0, 2_000);
