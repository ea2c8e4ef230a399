import type { FillEnvironment } from '../../../api/deps.ts';
import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';
import { eventually } from '../../support/metering-world.ts';

type Run = Parameters<FillEnvironment>[0];

/** Filling an empty environment with generated data, in the background. */
describe('/environments/{id}/seed', () => {
  let api: TestApi;
  /** What the generator does in the next run; the product's own is in test/flow/seed.test.ts. */
  let generator: FillEnvironment;
  const runs: Run[] = [];
  beforeAll(async () => {
    api = await startTestApi({
      fillEnvironment: (run) => {
        runs.push(run);
        return generator(run);
      },
    });
  });
  afterAll(() => api.close());
  beforeEach(() => {
    runs.length = 0;
  });

  const seedOf = (caller: TestCaller) => `/v1/environments/${caller.scope.environment_id}/seed`;
  const ended = async (caller: TestCaller, state: string) => {
    await eventually(async () => expect((await caller.get(seedOf(caller))).body.state).toBe(state));
    return (await caller.get(seedOf(caller))).body;
  };

  test('202: it runs once, with a key of the environment that ends with it; GET tells how far it is', async () => {
    const caller = await api.newCaller();
    expect((await caller.get(seedOf(caller))).body).toMatchObject({
      ...{ state: 'none', is_empty: true, events: 0, started_at: null },
    });
    let end = () => {};
    const halfway = new Promise<void>((resolve) => (end = resolve));
    generator = async ({ api_key, onProgress }) => {
      const plan = await api.post('/v1/plans', { name: 'Starter' }, { 'x-api-key': api_key });
      expect([plan.status, plan.body.environment_id]).toEqual([201, caller.scope.environment_id]);
      onProgress('1 plan', 40);
      await halfway;
    };
    const started = await caller.post(seedOf(caller), { seed: 7, events: 100 });
    expect([started.status, started.body]).toMatchObject([
      202,
      { state: 'running', profile: 'ai-saas', seed: 7, events: 100, events_sent: 0, error: null },
    ]);
    await eventually(async () =>
      expect((await caller.get(seedOf(caller))).body).toMatchObject({
        ...{ state: 'running', step: '1 plan', events_sent: 40, is_empty: false },
      }),
    );
    const again = await caller.post(seedOf(caller), { seed: 8 });
    expect([again.status, again.body.state, again.body.seed]).toEqual([202, 'running', 7]);
    end();
    expect(await ended(caller, 'completed')).toMatchObject({ seed: 7, error: null });
    expect((await caller.post(seedOf(caller), {})).body.state).toBe('completed');
    expect(runs).toHaveLength(1);
    const { api_key } = runs[0]!;
    expect((await api.get('/v1/plans', { 'x-api-key': api_key })).status).toBe(401);
  });

  test('a failure is reported, and repeated as long as the environment is empty', async () => {
    const caller = await api.newCaller();
    generator = async () => {
      throw new Error('POST /plans answered 503');
    };
    await caller.post(seedOf(caller), {});
    expect(await ended(caller, 'failed')).toMatchObject({ error: 'POST /plans answered 503' });
    generator = async () => {};
    expect((await caller.post(seedOf(caller), {})).body.state).toBe('running');
    await ended(caller, 'completed');
  });

  test('a process that was stopped leaves a failure', async () => {
    const caller = await api.newCaller();
    generator = async () => {};
    await caller.post(seedOf(caller), {});
    await ended(caller, 'completed');
    await api.pool`
      update environment_seeds set state = 'running', ended_at = null, seen_at = '2020-01-01'
       where environment_id = ${caller.scope.environment_id}`;
    expect((await caller.get(seedOf(caller))).body).toMatchObject({
      ...{ state: 'failed', error: 'The service was stopped while it filled the environment.' },
    });
  });

  test('refused: production, an environment with records, other roles, strangers', async () => {
    generator = async () => {};
    const live = await api.newCaller();
    await api.pool`
      update environments set type = 'production' where id = ${live.scope.environment_id}`;
    const refusal = await live.post(seedOf(live), {});
    expect([refusal.status, refusal.body.code]).toEqual([400, 'not_in_production']);

    const used = await api.newCaller();
    expect((await used.post('/v1/customers', { external_id: 'acme', name: 'Acme' })).status).toBe(
      201,
    );
    const full = await used.post(seedOf(used), {});
    expect([full.status, full.body.code]).toEqual([409, 'environment_not_empty']);

    const owner = await api.newCaller();
    for (const roles of [['all_reader'], ['all_writer']]) {
      const other = await api.newCaller({ beside: owner, roles });
      expect((await other.post(seedOf(owner), {})).status).toBe(403);
    }
    const robot = await api.newCaller({ beside: owner, userType: 'service_account' });
    expect((await robot.post(seedOf(owner), {})).status).toBe(403);
    const stranger = await api.newCaller();
    for (const answer of [
      await stranger.post(seedOf(owner), {}),
      await stranger.get(seedOf(owner)),
    ])
      expect(answer.status).toBe(404);
    for (const body of [{ profile: 'bank' }, { seed: 0 }, { events: 1_000_001 }])
      expect((await owner.post(seedOf(owner), body)).status).toBe(400);
    expect(runs).toHaveLength(0);
  });
});
