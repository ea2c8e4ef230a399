import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { createWorld, type World } from '../support/world.ts';

/**
 * A record of another tenant and one that does not exist cannot be distinguished: not by the answer, not by the
 * time that it takes (tenancy S30).
 */
describe('foreign and missing records', () => {
  let api: TestApi;
  let world: World;
  let stranger: TestCaller;
  const statements: string[] = [];
  beforeAll(async () => {
    api = await startTestApi({
      onStatement: (text, parameters) =>
        void statements.push(`${text} ${JSON.stringify(parameters)}`),
    });
    world = await createWorld(api);
    stranger = await api.newCaller();
  });
  afterAll(() => api.close());

  /** Reads of one record by an id that is made by the service. */
  const named = API_ROUTES.filter(
    ({ method, path, permission }) =>
      method === 'GET' && /\{id\}$/.test(path) && /:read$/.test(permission),
  );
  const idsOf = (path: string): { foreign: string; missing: string } | null => {
    const foreign = world.foreign[path];
    // Another id of the same kind and length: the last characters differ.
    if (foreign === undefined || !/^[a-z_]+_[0-9A-Z]{26}$/.test(foreign)) return null;
    return { foreign, missing: `${foreign.slice(0, -8)}ZZZZZZZZ` };
  };
  const read = async (path: string, id: string) =>
    await stranger.get(`/v1${path.replace('{id}', id)}`, { 'x-request-id': 'the-same' });

  test('have the same body but for the id, byte by byte, and the same headers', async () => {
    const different: string[] = [];
    let compared = 0;
    for (const { path } of named) {
      const ids = idsOf(path);
      if (ids === null) continue;
      compared += 1;
      const [foreign, missing] = [await read(path, ids.foreign), await read(path, ids.missing)];
      const body = JSON.stringify(foreign.body).replaceAll(ids.foreign, ids.missing);
      const headers = [foreign, missing].map((answer) => Object.keys(answer.headers).sort().join());
      const isSame =
        foreign.status === 404 &&
        missing.status === 404 &&
        body === JSON.stringify(missing.body) &&
        headers[0] === headers[1] &&
        foreign.headers['content-length'] === missing.headers['content-length'];
      if (!isSame) different.push(`${path}: ${body} ${JSON.stringify(missing.body)}`);
    }
    process.stdout.write(`foreign as missing: routes=${compared} different=${different.length}\n`);
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(8);
  });

  test('cost the same work: the same statements, which differ in the id alone', async () => {
    const different: string[] = [];
    let compared = 0;
    for (const { path } of named) {
      const ids = idsOf(path);
      if (ids === null) continue;
      const work = async (id: string): Promise<string> => {
        statements.length = 0;
        await read(path, id);
        return statements.join('\n').replaceAll(id, '(the id)');
      };
      await work(ids.missing);
      const [foreign, missing] = [await work(ids.foreign), await work(ids.missing)];
      // Otherwise what is compared is not what looks for the record.
      expect(foreign).toContain('(the id)');
      compared += 1;
      if (foreign !== missing) different.push(`${path}:\n${foreign}\n---\n${missing}`);
    }
    process.stdout.write(`foreign costs as missing: routes=${compared}\n`);
    expect(different).toEqual([]);
    expect(compared).toBeGreaterThan(8);
  });
});
