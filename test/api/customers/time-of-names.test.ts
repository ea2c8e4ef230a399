import { timeOfNames } from '../../../api/customers/test-clocks/time-of-names.ts';
import {
  OF_CUSTOMERS,
  OF_SUBSCRIPTIONS,
} from '../../../api/customers/test-clocks/time-repository.ts';
import { ID_PREFIXES } from '../../../platform/ids.ts';
import { startTestApi, TEST_NOW, type TestApi } from '../../support/api.ts';
import { createWorld, type World } from '../../support/world.ts';

/** The time of a request is found by the prefixes of the ids that it names (billing 22). */
describe('the time of the records that a request names', () => {
  let api: TestApi;
  let world: World;
  beforeAll(async () => {
    api = await startTestApi();
    world = await createWorld(api);
    const subscription_id = world.foreign['/subscriptions/{id}']!;
    await made('/subscriptions/addon', {
      subscription_id,
      addon_id: world.foreign['/addons/{id}']!,
    });
    const { line_items } = (await api.get(`/v1/subscriptions/${subscription_id}`)).body;
    await made(`/subscriptions/${subscription_id}/modify/execute`, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line_items[0].id, quantity: '2' }] },
    });
    await made('/creditgrants', {
      ...{
        name: 'Monthly',
        scope: 'SUBSCRIPTION',
        subscription_id,
        credits: '5',
        start_date: TEST_NOW,
      },
      ...{ cadence: 'RECURRING', period: 'MONTHLY', period_count: 1, expiration_type: 'NEVER' },
    });
  });
  afterAll(() => api.close());

  const made = async (path: string, body: object): Promise<void> => {
    const answer = await api.post(`/v1${path}`, body);
    expect([path, answer.status, answer.status < 300 ? null : answer.body]).toEqual([
      path, answer.status, null,
    ]); // prettier-ignore
  };

  test.each([['cust', 'customers'], ...Object.entries({ ...OF_CUSTOMERS, ...OF_SUBSCRIPTIONS })])(
    'ids that begin with %s are those of %s',
    async (prefix, table) => {
      expect(ID_PREFIXES).toContain(prefix);
      const rows = await api.pool<{ kind: string }[]>`
      select distinct regexp_replace(id, '_[0-9A-Z]{26}$', '') as kind from ${api.pool(table!)}`;
      expect(rows).toEqual([{ kind: prefix }]);
    },
  );

  test('no other table with a customer or a subscription uses these prefixes', async () => {
    const tables = await api.pool<{ name: string }[]>`
      select c.table_name as name from information_schema.columns c
        join information_schema.tables t on t.table_name = c.table_name and t.table_schema = c.table_schema
       where c.table_schema = 'public' and c.column_name = 'id' and c.data_type = 'text'
         and t.table_type = 'BASE TABLE' and c.table_name <> 'customers'`;
    const known = { ...OF_CUSTOMERS, ...OF_SUBSCRIPTIONS } as Record<string, string>;
    const wrong: string[] = [];
    for (const { name } of tables) {
      const rows = await api.pool<{ kind: string }[]>`
        select distinct regexp_replace(id, '_[0-9A-Z]{26}$', '') as kind from ${api.pool(name)}`;
      for (const { kind } of rows)
        if (kind === 'cust' || (known[kind] !== undefined && known[kind] !== name))
          wrong.push(`${name}: ${kind}`);
    }
    expect(wrong).toEqual([]);
  });

  test('a write to any of these records takes the time of its customer', async () => {
    const clock = (await api.post('/v1/test-clocks', { now: '2024-01-31T10:00:00Z' })).body;
    const customer = world.foreign['/customers/{id}']!;
    await api.pool`update customers set test_clock_id = ${clock.id} where id = ${customer}`;
    for (const table of [...Object.values(OF_CUSTOMERS), ...Object.values(OF_SUBSCRIPTIONS)]) {
      const owner = Object.values(OF_CUSTOMERS).includes(table) ? 'customer_id' : 'subscription_id';
      const [row] = await api.pool<{ id: string }[]>`
        select id from ${api.pool(table)} where ${api.pool(owner)} is not null limit 1`;
      const names = { ids: [row!.id], external_ids: [], test_clock_ids: [] };
      expect([table, await timeOfNames(api.pool, api.scope, names, true)]).toEqual([
        table, '2024-01-31T10:00:00.000Z',
      ]); // prettier-ignore
    }
    const plan = { ids: [world.foreign['/plans/{id}']!], external_ids: [], test_clock_ids: [] };
    expect(await timeOfNames(api.pool, api.scope, plan, true)).toBeNull();
  });
});
