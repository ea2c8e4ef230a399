import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { apiDocument } from '../../api/app.ts';
import { API_ROUTES } from '../../api/routes.ts';
import { INGEST_OPERATIONS } from '../../ingest/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters: readonly { name: string; in: string; schema: object }[];
  readonly requestBody?: { content: Record<string, { schema: object }> };
  readonly responses: Record<string, object>;
}
const document = apiDocument() as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object>; responses: Record<string, object> };
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    path,
    operation,
  })),
);

describe('the OpenAPI document', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test('is OpenAPI 3.0.1 and served with its page', async () => {
    expect(document.openapi).toBe('3.0.1');
    expect((await api.get('/v1/openapi.json')).body).toEqual(JSON.parse(JSON.stringify(document)));
    expect((await api.get('/docs/')).status).toBe(200);
  });

  test('the page shows it, also before the first request of the document', async () => {
    const another = await startTestApi();
    const { status, body } = await another.get('/docs/json');
    expect(status).toBe(200);
    expect(body).toEqual(JSON.parse(JSON.stringify(document)));
    await another.close();
  });

  test('has every route that exists, and no other', () => {
    const routes = API_ROUTES.map((route) => `${route.method} ${route.path}`).sort();
    expect(operations.map(({ name }) => name).sort()).toEqual(routes);
  });

  test('every operation in it is answered: not with "no such route"', async () => {
    for (const { name, path } of operations) {
      const [method] = name.split(' ');
      const url = `/v1${path.replace(/\{[a-z_]+\}/g, 'x')}`;
      const answer = await api.call(method!, url, method === 'GET' ? undefined : {});
      expect([name, answer.body?.message]).not.toEqual([
        name,
        expect.stringContaining('There is no route'),
      ]);
    }
  });

  test('operation ids are unique, parameters of the path are declared', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    for (const { name, path, operation } of operations) {
      const inPath = [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]);
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path');
      expect([name, declared.map((parameter) => parameter.name)]).toEqual([name, inPath]);
    }
  });

  test('every reference leads to a component, and no key is of a later OpenAPI', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!);
    const known = (['schemas', 'responses'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...new Set(references)].filter((reference) => !known.includes(reference))).toEqual([]);
    for (const key of [
      '$defs',
      'definitions',
      'const',
      'exclusiveMinimum":0',
      'prefixItems',
      '$schema',
    ])
      expect([key, text.includes(`"${key}`)]).toEqual([key, false]);
  });

  test('every operation has a summary and its refusals', () => {
    const bare = operations.filter(
      ({ operation }) =>
        !operation.summary ||
        operation.tags?.length !== 1 ||
        !['400', 'default'].every((status) => status in operation.responses),
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
    const conditional = operations.filter(({ operation }) => '412' in operation.responses);
    expect(conditional.map(({ name }) => name)).toContain('PUT /plans/{id}');
  });

  test.each(['3.0.1', '3.1.0'] as const)(
    'OpenAPI %s: the official schema of that version finds nothing wrong',
    async (version) => {
      const whole = JSON.parse(JSON.stringify(apiDocument(INGEST_OPERATIONS, version)));
      const { valid, errors } = await new Validator().validate(whole);
      expect(errors ?? []).toEqual([]);
      expect([valid, whole.openapi]).toEqual([true, version]);
    },
  );

  test('3.1 is served too, has the same operations, and its schemas are JSON Schema', async () => {
    const { status, body } = await api.get('/v1/openapi-3.1.json');
    expect([status, body.openapi]).toEqual([200, '3.1.0']);
    const operationsOf = (paths: object) =>
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods as object).map((method) => `${method} ${path}`),
      );
    expect(operationsOf(body.paths)).toEqual(operationsOf(document.paths));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'document', components: body.components });
    const names = Object.keys(body.components.schemas);
    ajv.compile({ anyOf: names.map((name) => ({ $ref: `document#/components/schemas/${name}` })) });
    expect(JSON.stringify(body)).not.toContain('"nullable"');
  });
});
