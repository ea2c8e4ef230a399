import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { createWorld, type World } from '../support/world.ts';

/**
 * Somebody else's record and one that does not exist are told apart by nothing: not by the answer, not
 * by the time that it takes (reliability, S30).
 */
describe('foreign and missing records', () => {
  let api: TestApi;
  let world: World;
  let stranger: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
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

  test('take the same time', async () => {
    const SAMPLES = 60;
    const slower: string[] = [];
    for (const path of [
      '/customers/{id}',
      '/plans/{id}',
      '/subscriptions/{id}',
      '/invoices/{id}',
    ]) {
      const ids = idsOf(path)!;
      const times: Record<'foreign' | 'missing', number[]> = { foreign: [], missing: [] };
      // In turns, so that whatever else the machine does meets both alike.
      for (let sample = 0; sample < SAMPLES; sample += 1)
        for (const kind of sample % 2 === 0
          ? (['foreign', 'missing'] as const)
          : (['missing', 'foreign'] as const)) {
          const began = performance.now();
          await read(path, ids[kind]);
          times[kind].push(performance.now() - began);
        }
      const [foreign, missing] = [median(times.foreign), median(times.missing)];
      // A second statement, or a record that is fetched and then refused, would cost more than half again.
      if (Math.abs(foreign - missing) > Math.max(1.5, 0.5 * Math.min(foreign, missing)))
        slower.push(`${path}: foreign ${foreign.toFixed(2)} ms, missing ${missing.toFixed(2)} ms`);
    }
    expect(slower).toEqual([]);
  });
});

const median = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;
