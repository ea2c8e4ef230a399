import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiDocument } from '../../api/app.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../postgres/embedded.ts';
import { migratePostgres } from '../../postgres/migrate.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { databaseUrl, patiently, TEMPLATE_DATABASE } from '../support/global-setup.ts';
import { eventually } from '../support/metering-world.ts';
import { createWorld, type World } from '../support/world.ts';

/** Statements are templates with values apart from their text (tenancy S11). */
describe('SQL is never put together from text', () => {
  /** Files that may send text as a statement, and why. */
  const MAY: Readonly<Record<string, string>> = {
    'postgres/migrate.ts': 'migrations are files of statements',
    'postgres/embedded.ts': 'makes the database, whose name is a constant',
    'postgres/embedded-logins.ts':
      'statements about roles take no parameters; names are constants, passwords our own hex digits',
    'postgres/client.ts': 'offers the method to those that are listed here',
  };

  test('outside of what is listed, nothing calls unsafe', () => {
    const sources = execFileSync(
      'git',
      ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'],
      { encoding: 'utf8' },
    )
      .split('\n')
      .filter((name) => name !== '' && !/^(test|bench)\//.test(name) && MAY[name] === undefined);
    expect(sources.length).toBeGreaterThan(100);
    const calls = sources.flatMap((name) =>
      readFileSync(name, 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /\bunsafe\b\s*\(|\.file\(/.test(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [],
        ),
    );
    expect(calls).toEqual([]);
  });
});

const QUOTES = [
  "'",
  '"',
  '`',
  "''",
  '\\',
  "\\'",
  '$$',
  '$1',
  "';",
  '");',
  "')",
  '"]',
  '}',
  '/*',
  '--',
  ';',
];
const TAILS = [
  '', ' or 1=1 --', ' and 1=cast((select version()) as int) --', '; drop table plans; --',
  ' union select null, null --', ' || pg_sleep(0)', '; select pg_sleep(0); --',
  ') returning id; --', '::int', ' limit 0 offset 1/0 --', '/**/or/**/true', ' collate "C"',
]; // prettier-ignore
const OTHERS = [
  '%', '_', '\\_%', 'E\'\\x27\'', 'U&"\\0027"', '\u2019', '\u02bc or 1=1', '0x27', 'null', 'default', 'NaN', 'Infinity',
  '{"$gt": ""}', '{{7*7}}', '${7*7}', ':name', '?', '@>', '[1,2', '{a,b', 'select', 'from', "' \n--\n", "1'\t", '(select 1)',
]; // prettier-ignore
/** Some two hundred texts that would leave a literal, an identifier, a pattern or an array. */
const PAYLOADS = [...QUOTES.flatMap((quote) => TAILS.map((tail) => `a${quote}${tail}`)), ...OTHERS];

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly format?: string;
  readonly $ref?: string;
}
const document = apiDocument() as {
  paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { content: { 'application/json'?: { schema: Schema } } };
        security?: unknown[];
      }
    >
  >;
  components: { schemas: Record<string, Schema> };
};

/** Fields that texts of a search or a record may name; where one is unknown the call is a plain 400. */
const FIELDS = [
  'name',
  'lookup_key',
  'external_id',
  'email',
  'entity_type',
  'entity_id',
  'currency',
  'type',
];

describe('payloads in every text', () => {
  let api: TestApi;
  let world: World;
  let server: EmbeddedPostgres;
  let directory: string;
  let sharedUrl: string | undefined;
  const serverLog: string[] = [];
  const syntaxErrors = () => serverLog.filter((line) => /syntax error|42601/i.test(line));

  // A server of this test's own: what it writes to its log is looked at.
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'meterline-injection-'));
    server = await startEmbeddedPostgres({
      directory,
      settings: { fsync: 'off', log_min_messages: 'error', log_min_error_statement: 'error' },
      onLog: (line) => serverLog.push(line),
    });
    const admin = connectPostgres({ url: server.url, applicationName: 'test', maxConnections: 1 });
    await admin`create database ${admin(TEMPLATE_DATABASE)}`;
    await admin.end();
    const template = connectPostgres({
      url: databaseUrl(server.url, TEMPLATE_DATABASE),
      applicationName: 'test',
      maxConnections: 1,
    });
    await migratePostgres(template);
    await template.end();
    sharedUrl = process.env['TEST_POSTGRES_URL'];
    process.env['TEST_POSTGRES_URL'] = patiently(server.url);
    api = await startTestApi();
    world = await createWorld(api);
  });
  afterAll(async () => {
    process.env['TEST_POSTGRES_URL'] = sharedUrl;
    await api?.close();
    await server.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 20 });
  });

  test('no 5xx, and no statement that Postgres cannot read', async () => {
    const failures: string[] = [];
    let place = 0;
    const next = (): string => PAYLOADS[place++ % PAYLOADS.length]!;
    let requests = 0;
    let accepted = 0;
    const send = async (method: string, path: string, body?: object) => {
      requests += 1;
      try {
        const answer = await api.call(method, path, body);
        if (answer.status < 300) accepted += 1;
        if (answer.status >= 500) failures.push(`${method} ${path}: ${answer.status}`);
      } catch (error) {
        failures.push(`${method} ${path} ${JSON.stringify(body)}: ${String(error)}`);
      }
    };

    for (const [path, operations] of Object.entries(document.paths)) {
      const url = path.replace(/\{([a-z_]+)\}/g, (_all, name: string) => {
        const before = path.slice(3, path.indexOf(`{${name}}`));
        return encodeURIComponent(world.foreign[`${before}{${name}}`] ?? 'x');
      });
      for (const [method, operation] of Object.entries(operations)) {
        if (operation.security?.length === 0) continue;
        const schema = operation.requestBody?.content['application/json']?.schema;
        if (schema === undefined || method === 'delete') continue;
        const until = place + (path.endsWith('/search') ? 40 : 60);
        for (let tries = 0; place < until && tries < 20; tries += 1)
          await send(method.toUpperCase(), url, filled(schema, next) as object);
        if (!path.endsWith('/search')) continue;
        for (const field of FIELDS) {
          const filters = (operator: string, payloads: readonly string[]) => ({
            filters: payloads.map((string) => ({ field, operator, value: { string } })),
          });
          for (let from = 0; from < PAYLOADS.length; from += 50)
            await send('POST', url, filters('contains', PAYLOADS.slice(from, from + 50)));
          await send('POST', url, filters('eq', PAYLOADS.slice(0, 50)));
          await send('POST', url, {
            filters: [{ field, operator: 'in', value: { array: PAYLOADS } }],
          });
        }
        await send('POST', url, { sort: [{ field: next(), direction: 'asc' }] });
        await send('POST', url, { sort: next(), order: next(), expand: next() });
      }
    }
    for (const payload of PAYLOADS) {
      const text = encodeURIComponent(payload);
      await send('GET', `/v1/plans/${text}`);
      await send('GET', `/v1/customers/lookup/${text}`);
      await send('GET', `/v1/audit-logs?entity_id=${text}&user_id=${text}`);
      await send('POST', '/v1/customers', {
        external_id: payload,
        name: payload,
        metadata: { [payload]: payload },
      });
      await send('POST', '/v1/plans', { name: payload, lookup_key: payload, description: payload });
    }

    process.stdout.write(
      `injection payloads=${PAYLOADS.length} requests=${requests} accepted=${accepted} ` +
        `failures=${failures.length} syntax_errors=${syntaxErrors().length}\n`,
    );
    expect(failures).toEqual([]);
    expect(syntaxErrors()).toEqual([]);
    expect(accepted).toBeGreaterThan(PAYLOADS.length);
  });

  test('texts are stored as sent', async () => {
    const payload = "a'; drop table plans; --";
    const made = await api.post('/v1/plans', { name: payload });
    expect(made.body.name).toBe(payload);
    expect((await api.get(`/v1/plans/${made.body.id}`)).body.name).toBe(payload);
  });

  test('the log would show a statement that cannot be read', async () => {
    await expect(api.pool.unsafe('selekt 1')).rejects.toMatchObject({ code: '42601' });
    await eventually(async () => expect(syntaxErrors().length).toBeGreaterThan(0));
  });
});

/** A body with a payload in every text of the schema, and something harmless elsewhere. */
function filled(schema: Schema, next: () => string, depth = 0): unknown {
  if (schema.$ref !== undefined)
    return filled(document.components.schemas[schema.$ref.split('/').at(-1)!] ?? {}, next, depth);
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.anyOf !== undefined) {
    const kinds = schema.anyOf.filter(({ type }) => type !== 'null');
    return kinds.length === 0 ? null : filled(kinds[0]!, next, depth);
  }
  switch (schema.type) {
    case 'object': {
      if (depth > 4) return {};
      const entries = Object.entries(schema.properties ?? {})
        .filter(
          ([name]) => !['filters', 'sort', 'expand', 'limit', 'offset', 'order'].includes(name),
        )
        .map(([name, inner]): [string, unknown] => [name, filled(inner, next, depth + 1)]);
      if (entries.length === 0 && typeof schema.additionalProperties === 'object')
        return Object.fromEntries(Array.from({ length: 10 }, () => [next(), next()]));
      return Object.fromEntries(entries);
    }
    case 'array':
      return Array.from({ length: schema.items?.type === 'string' ? 10 : 1 }, () =>
        filled(schema.items ?? {}, next, depth + 1),
      );
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    case 'string':
      return schema.format === 'date-time' ? '2026-11-01T00:00:00Z' : next();
    default:
      return next();
  }
}
