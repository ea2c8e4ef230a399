import { apiDocument } from '../../api/app.ts';
import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { name: string; in: string; schema: object }[];
  readonly requestBody?: { content: Record<string, { schema: object }> };
  readonly responses: Record<string, object>;
}
const document = apiDocument() as {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
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
    const known = Object.keys(document.components.schemas).map(
      (name) => `#/components/schemas/${name}`,
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
});
