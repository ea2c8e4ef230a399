import { gunzipSync } from 'node:zlib';
import { runScheduledExports } from '../../jobs/run-scheduled-exports.ts';
import { createOutbound, type Outbound } from '../../platform/outbound/guarded-request.ts';
import { noEvents, startTestApi, type TestApi, type TestCaller } from '../support/api.ts';
import { runAtNow } from '../support/job-run.ts';
import { startStorage, STORAGE_KEYS, type TestStorage } from '../support/s3-server.ts';

/** Money 19.4: exports that run when they are due, over a storage that checks every signature. */
describe('scheduled exports', () => {
  let api: TestApi;
  let outbound: Outbound;
  let storage: TestStorage;
  let caller: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
    outbound = createOutbound();
  });
  beforeEach(async () => {
    storage = await startStorage();
    caller = await api.newCaller();
    api.clock.set('2026-11-21T12:00:00.000Z');
  });
  afterEach(async () => {
    await api.pool`update scheduled_tasks set status = 'archived'`;
    await storage.close();
  });
  afterAll(async () => {
    outbound.close();
    await api.close();
  });

  /** The job at the test's time; `deps` replaces dependencies. */
  const runAt = async (time: string, more: Partial<{ outbound: Outbound }> = {}) => {
    api.clock.set(time);
    const deps = { ...api.deps, eventReader: noEvents, outbound, ...more };
    return await runAtNow(api, runScheduledExports, deps);
  };
  const create = async (
    fields: object = {},
    config: object = {},
    secrets: object = STORAGE_KEYS,
  ) => {
    const { body: connection } = await caller.post('/v1/connections', {
      name: 'Bucket',
      provider_type: 's3',
      encrypted_secret_data: secrets,
    });
    const made = await caller.post('/v1/tasks/scheduled', {
      connection_id: connection.id,
      entity_type: 'credit_topups',
      interval: 'hourly',
      job_config: {
        bucket: 'b',
        region: 'eu-west-1',
        endpoint_url: storage.url,
        use_path_style: true,
        ...config,
      },
      ...fields,
    });
    expect(made).toMatchObject({ status: 201 });
    return made.body as { id: string };
  };
  const runs = async (task: { id: string }) =>
    (await caller.post('/v1/workflows/search', { entity_id: task.id })).body.items as {
      workflow_id: string;
      status: string;
      error?: string;
    }[];
  const topUp = async () => {
    const { body: customer } = await caller.post('/v1/customers', {
      external_id: '=acme',
      name: 'Acme',
      metadata: { region: 'north' },
    });
    const { body: wallet } = await caller.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      metadata: { team: 'blue' },
    });
    const { status } = await caller.post(`/v1/wallets/${wallet.id}/top-up`, {
      credits_to_add: '25',
      transaction_reason: 'FREE_CREDIT_GRANT',
      idempotency_key: wallet.id,
    });
    expect(status).toBe(200);
    return { customer, wallet };
  };

  test('each window once, five minutes after its end, and those of a stop afterwards', async () => {
    const task = await create();
    await topUp();
    expect(await runAt('2026-11-21T13:04:59.000Z')).toMatchObject({ planned: 0, exported: 0 });
    expect(await runAt('2026-11-21T13:05:00.000Z')).toMatchObject({ planned: 1, exported: 1 });
    expect(await runAt('2026-11-21T13:06:00.000Z')).toMatchObject({ planned: 0, exported: 0 });
    const first = `/b/credit_topups/${task.id}/20261121T120000Z-20261121T130000Z-0001.csv`;
    expect([...storage.objects.keys()]).toEqual([first]);
    const { body, headers } = storage.objects.get(first)!;
    expect(headers['x-amz-server-side-encryption']).toBe('AES256');
    const [names, row, ...others] = body.toString().trim().split('\n');
    expect(names!.split(',')).toEqual(expect.arrayContaining(['credit_amount', 'wallet_id']));
    expect(row).toContain("'=acme,completed,FREE_CREDIT_GRANT,usd,25,25,0,25");
    expect(others).toEqual([]);
    expect(await runAt('2026-11-21T16:30:00.000Z')).toMatchObject({ planned: 3, exported: 3 });
    expect([...storage.objects.keys()].map((key) => key.slice(-37))).toEqual(
      [
        '20261121T120000Z-20261121T130000Z-0001.csv',
        '20261121T130000Z-20261121T140000Z-0001.csv',
        '20261121T140000Z-20261121T150000Z-0001.csv',
        '20261121T150000Z-20261121T160000Z-0001.csv',
      ].map((key) => key.slice(-37)),
    );
    expect((await runs(task)).map(({ status }) => status)).toEqual(Array(4).fill('Completed'));
  });

  test('after a stop of weeks at most the newest 96 windows', async () => {
    const task = await create({ interval: '15MIN' });
    expect(await runAt('2026-12-21T12:00:00.000Z')).toMatchObject({ planned: 96, exported: 96 });
    expect(storage.requests.at(-1)).toContain('20261221T113000Z-20261221T114500Z');
    expect(storage.requests).toHaveLength(96);
    expect(await runs(task)).toHaveLength(50);
  });

  test('a paused task waits; a deleted one runs no more', async () => {
    const task = await create();
    await caller.put(`/v1/tasks/scheduled/${task.id}`, { enabled: false });
    expect(await runAt('2026-11-21T14:30:00.000Z')).toMatchObject({ planned: 0 });
    await caller.put(`/v1/tasks/scheduled/${task.id}`, { enabled: true });
    expect(await runAt('2026-11-21T14:31:00.000Z')).toMatchObject({ planned: 2, exported: 2 });
    const { body: run } = await caller.post(`/v1/tasks/scheduled/${task.id}/run`);
    await caller.delete(`/v1/tasks/scheduled/${task.id}`);
    expect(await runAt('2026-11-21T18:30:00.000Z')).toMatchObject({ planned: 0, exported: 0 });
    expect(await runs(task)).toContainEqual(
      expect.objectContaining({ workflow_id: run.workflow_id, status: 'Failed' }),
    );
    expect(storage.requests).toHaveLength(2);
  });

  test('a run by hand writes its window, and a second one replaces the file', async () => {
    const task = await create(
      {},
      { compression: 'gzip', key_prefix: 'a b/ü/', encryption: 'aws:kms' },
    );
    const window = { start_time: '2026-11-21T00:00:00Z', end_time: '2026-11-22T00:00:00Z' };
    const byHand = () => caller.post(`/v1/tasks/scheduled/${task.id}/run`, window);
    await byHand();
    expect(await runAt('2026-11-21T12:01:00.000Z')).toMatchObject({ exported: 1 });
    await topUp();
    await byHand();
    expect(await runAt('2026-11-21T12:02:00.000Z')).toMatchObject({ exported: 1 });
    const [[key, { body, headers }]] = [...storage.objects] as [[string, any]];
    expect(storage.objects.size).toBe(1);
    expect(key).toMatch(/^\/b\/a%20b\/%C3%BC\/credit_topups\/.+-0001\.csv\.gz$/);
    expect(headers['x-amz-server-side-encryption']).toBe('aws:kms');
    expect(gunzipSync(body).toString().split('\n')).toHaveLength(3);
  });

  test('columns from the metadata of the customer and the wallet', async () => {
    await create(
      {},
      {
        export_metadata_fields: [
          { entity_type: 'customer', field_key: 'region', column_name: 'sales region' },
          { entity_type: 'wallet', field_key: 'team' },
        ],
      },
    );
    await topUp();
    await runAt('2026-11-21T13:05:00.000Z');
    const [names, row] = [...storage.objects.values()][0]!.body.toString().split('\n');
    expect(names).toMatch(/,sales region,team$/);
    expect(row).toMatch(/,north,blue$/);
  });

  test('a storage that fails is tried again with growing waits; one that refuses is not', async () => {
    const task = await create();
    storage.answers.push(500, 503);
    expect(await runAt('2026-11-21T13:05:00.000Z')).toMatchObject({ retried: 1 });
    expect(await runAt('2026-11-21T13:05:30.000Z')).toMatchObject({ exported: 0, retried: 0 });
    expect(await runAt('2026-11-21T13:06:00.000Z')).toMatchObject({ retried: 1 });
    expect(await runAt('2026-11-21T13:11:00.000Z')).toMatchObject({ exported: 1 });
    storage.answers.push(404);
    expect(await runAt('2026-11-21T14:05:00.000Z')).toMatchObject({ failed: 1 });
    const [last] = await runs(task);
    const { body } = await caller.get(`/v1/workflows/${last!.workflow_id}/${last!.workflow_id}`);
    expect(JSON.stringify(body)).toContain('the storage answered 404 (Refused404)');
  });

  test('keys that are missing or wrong, and an address that is not allowed, fail by name', async () => {
    const none = await create({}, {}, {});
    const wrong = await create({}, {}, { ...STORAGE_KEYS, aws_secret_access_key: 'other' });
    expect(await runAt('2026-11-21T13:05:00.000Z')).toMatchObject({ planned: 2, failed: 2 });
    const reason = async (task: { id: string }) => {
      const [row] = await api.pool`
        select error_summary from scheduled_task_runs where scheduled_task_id = ${task.id}`;
      return row!['error_summary'];
    };
    expect(await reason(none)).toBe('The connection lacks its access key or its secret key.');
    expect(await reason(wrong)).toBe('the storage answered 403 (Refused403)');
    const metal = await create({}, { endpoint_url: 'http://169.254.169.254' });
    expect(await runAt('2026-11-21T14:05:00.000Z')).toMatchObject({ failed: 3, retried: 0 });
    expect(await reason(metal)).toBe(
      'The URL 169.254.169.254 is not an address of the public internet.',
    );
  });

  test('a process that stops after the file was written: the next run replaces it', async () => {
    const task = await create();
    let resume = (): void => {};
    const resumed = new Promise<void>((resolve) => (resume = resolve));
    const slow = runAt('2026-11-21T13:05:00.000Z', {
      outbound: {
        ...outbound,
        async put(sent) {
          const answer = await outbound.put(sent);
          await resumed;
          return answer;
        },
      },
    });
    while (storage.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    await api.pool`update job_leases set leased_until = now() - interval '1 minute' where name = 'run-scheduled-exports'`;
    expect(await runAt('2026-11-21T13:06:00.000Z')).toMatchObject({ planned: 0, exported: 1 });
    resume();
    expect(await slow).toBeNull();
    expect(storage.objects.size).toBe(1);
    expect((await runs(task)).map(({ status }) => status)).toEqual(['Completed']);
  });
});
