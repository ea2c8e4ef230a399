import {
  tenantChecks,
  worstOf,
  type PartsFacts,
} from '../../../api/operations/doctor/tenant-checks.ts';
import type { HealthCheck } from '../../../schemas/doctor.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

/** What is wrong with the service, as far as it concerns one environment. */
describe('POST /operations/doctor', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ mostParts: () => readParts() });
  });
  afterAll(() => api.close());
  const few = { table: 'raw_events', parts: 7, delayed_at: 1_000 };
  let readParts = async (): Promise<typeof few> => few;

  const look = async (caller: Pick<TestApi, 'post'> = api) => {
    const { status, body } = await caller.post('/v1/operations/doctor');
    expect(status).toBe(200);
    const checks = body.checks as HealthCheck[];
    return { state: body.state, checks: new Map(checks.map((check) => [check.name, check])) };
  };

  test('every check has its state, and a remedy unless it is ok', async () => {
    const { state, checks } = await look();
    // This test has no event log, no stream and no jobs.
    expect(state).toBe('bad');
    expect(checks.get('log lag')).toMatchObject({ state: 'bad', mend: expect.any(String) });
    expect(checks.get('jobs')).toMatchObject({ state: 'bad', found: 'never ran' });
    for (const check of checks.values()) expect(check.mend === null).toBe(check.state === 'ok');
  });

  test('jobs: a failure shows without its text, which may be about another tenant', async () => {
    await api.pool`
      insert into job_leases (name, last_started_at, last_error) values
        ('close-billing-periods', now(), null), ('erase-events', now(), 'customer of somebody'),
        ('audit-wallets', now() - interval '27 hours', null)`;
    await api.pool`
      insert into job_leases (name, last_started_at) values ('expire-credits', now() - interval '285 seconds')`;
    const { checks } = await look();
    expect(checks.get('job expire-credits')).toMatchObject({
      state: 'ok',
      found: 'last run 5 min ago',
    });
    expect(checks.get('job close-billing-periods')).toMatchObject({ state: 'ok', mend: null });
    expect(checks.get('job erase-events')).toMatchObject({ state: 'warn' });
    expect(checks.get('job audit-wallets')).toMatchObject({ state: 'bad' });
    expect(JSON.stringify([...checks.values()])).not.toContain('somebody');
  });

  test('the stores: their states without the figures, which all tenants share', async () => {
    const { checks } = await look();
    expect(checks.get('Postgres connections')).toMatchObject({ state: 'ok', mend: null });
    expect(checks.get('ClickHouse parts')).toMatchObject({ state: 'ok', found: 'merges keep up' });
    readParts = () => Promise.reject(new Error('connection refused at 10.0.0.7'));
    const red = (await look()).checks.get('ClickHouse parts');
    readParts = async () => few;
    expect(red).toMatchObject({
      state: 'bad',
      found: 'ClickHouse does not answer',
      mend: expect.stringContaining('maintain -- doctor'),
    });
  });

  test('own webhook endpoints that fail, and not those of strangers', async () => {
    const { body } = await api.post('/v1/webhooks/endpoints', { url: 'https://example.com/x' });
    await api.pool`update webhook_endpoints set failing_since = now() where id = ${body.id}`;
    const name = 'webhook endpoints that fail';
    expect((await look()).checks.get(name)).toMatchObject({ state: 'warn', found: '1' });
    const stranger = await look(await api.newCaller());
    expect(stranger.checks.get(name)).toEqual({ name, state: 'ok', found: 'none', mend: null });
  });

  test('runs of exports that failed, while the export is there', async () => {
    const own = await api.newCaller();
    const { body: bucket } = await own.post('/v1/connections', { name: 'B', provider_type: 's3' });
    const { body: made } = await own.post('/v1/tasks/scheduled', {
      ...{ connection_id: bucket.id, entity_type: 'events', interval: 'hourly' },
      job_config: { bucket: 'b', region: 'eu-west-1' },
    });
    const path = `/v1/tasks/scheduled/${made.id}`;
    expect((await own.post(`${path}/run`)).status).toBeLessThan(300);
    const name = 'runs of exports that failed in the last week';
    expect((await look(own)).checks.get(name)).toMatchObject({ state: 'ok', found: 'none' });
    await api.pool`
      update scheduled_task_runs set run_status = 'FAILED', created_at = now()
       where scheduled_task_id = ${made.id}`;
    expect((await look(own)).checks.get(name)).toMatchObject({ state: 'warn', found: '1' });
    expect((await look()).checks.get(name)).toMatchObject({ state: 'ok', found: 'none' });
    await own.delete(path);
    expect((await look(own)).checks.get(name)).toMatchObject({ state: 'ok', found: 'none' });
  });

  test('403 without the permission', async () => {
    const sender = await api.newCaller({ beside: api, roles: ['event_ingestor'] });
    expect((await sender.post('/v1/operations/doctor')).status).toBe(403);
  });
});

describe('states', () => {
  const lagOf = (lag_records: number, waiting_ms: number) => [
    { partition: 0, lag_records, waiting_ms, watermark_moved_at: null },
  ];
  const service = {
    lag: lagOf(0, 0),
    stopped_partitions: 0,
    repairs: { replays: 0, sealer_away_seconds: null, rebuild_requested: false },
    jobs: [{ name: 'x', last_error: null, seconds_since_start: 5 }],
    connections: { used: 80, allowed: 100 },
  };
  const meters = { waiting: 0, mismatched: 0, set_aside: 0 };
  const environment = {
    refused_subscriptions: 0,
    failing_credit_grants: 0,
    failing_endpoints: 0,
    disabled_endpoints: 0,
    exhausted_deliveries: 0,
    failed_tasks: 0,
    failed_export_runs: 0,
    oldest_request_seconds: 60,
  };
  const partsOf = (parts: number) => ({ table: 'raw_events', parts, delayed_at: 1_000 });
  const stateOf = (facts: {
    service?: object;
    parts?: PartsFacts;
    meters?: object;
    environment?: object;
  }) =>
    worstOf(
      tenantChecks(
        { ...service, ...facts.service },
        facts.parts ?? null,
        { ...meters, ...facts.meters },
        { ...environment, ...facts.environment },
      ),
    );

  test.each<[string, Parameters<typeof stateOf>[0], string]>([
    ['all is well', {}, 'ok'],
    ['a stream at work', { service: { lag: lagOf(500, 2_000) } }, 'ok'],
    ['a stream that waits for a minute', { service: { lag: lagOf(5, 60_001) } }, 'warn'],
    ['a stream without progress', { service: { lag: lagOf(5, 600_001) } }, 'bad'],
    ['a log that does not answer', { service: { lag: null } }, 'bad'],
    ['a stopped partition', { service: { stopped_partitions: 1 } }, 'bad'],
    ['as many parts as merges leave', { parts: partsOf(300) }, 'ok'],
    ['more parts than merges leave', { parts: partsOf(301) }, 'warn'],
    ['parts that slow down inserts', { parts: partsOf(1_000) }, 'bad'],
    ['a ClickHouse that does not answer', { parts: 'unreachable' }, 'bad'],
    ['few free connections', { service: { connections: { used: 81, allowed: 100 } } }, 'warn'],
    ['no sealer', { service: { repairs: { ...service.repairs, sealer_away_seconds: 9 } } }, 'warn'],
    ['a meter that counts its past', { meters: { waiting: 1 } }, 'warn'],
    ['a meter that is set aside', { meters: { set_aside: 1 } }, 'bad'],
    ['a subscription that is refused', { environment: { refused_subscriptions: 1 } }, 'bad'],
    ['credits that cannot be given', { environment: { failing_credit_grants: 1 } }, 'bad'],
    ['an export that failed', { environment: { failed_export_runs: 1 } }, 'warn'],
    ['requests that are not forgotten', { environment: { oldest_request_seconds: 8 * 86_400 } }, 'warn'],
  ])('%s', (_title, facts, state) => {
    expect(stateOf(facts)).toBe(state);
  }); // prettier-ignore
});
