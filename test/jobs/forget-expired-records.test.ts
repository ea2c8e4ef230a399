import { forgetExpiredRecords } from '../../jobs/forget-expired-records.ts';
import { runJob } from '../../jobs/run-job.ts';
import { createLogger } from '../../platform/log.ts';
import type { Pool } from '../../postgres/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('what was kept for a while only is forgotten, and nothing else', () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = database.pool;
    await pool`insert into tenants (id, name) values ('t', 'T')`;
    await pool`insert into users (id, tenant_id, type) values ('u', 't', 'user')`;
  });
  afterAll(async () => {
    await pool`delete from outbox`; // made-up rows without the form of their types
    await database.drop();
  });

  const run = (settings = {}) =>
    runJob(
      {
        pool,
        log: createLogger('silent', 'test'),
        holder: 'test',
        now: async () => '2026-03-01T00:00:00.000Z',
      },
      forgetExpiredRecords,
      { pool, settings },
      new Date().toISOString(),
    );
  const session = async (id: string, expires: string, ended: string | null) => {
    await pool`
      insert into sessions (id, tenant_id, user_id, refresh_hash, expires_at, ended_at)
      values (${id}, 't', 'u', ${Buffer.from(id)}, now() + ${expires}::interval,
              now() + ${ended}::interval)`;
    await pool`
      insert into spent_refresh_tokens (refresh_hash, session_id)
      values (${Buffer.from(`old ${id}`)}, ${id})`;
  };

  test('answers after seven days, failures after a day, sessions a day after their end', async () => {
    for (const [key, age] of [
      ['young', '6 days 23 hours'],
      ['old', '7 days 1 hour'],
    ])
      await pool`
        insert into idempotency_keys (tenant_id, environment_id, key, fingerprint, answer_status, created_at)
        values ('t', 'e', ${key!}, 'f', 201, now() - ${age!}::interval)`;
    for (const age of ['1 minute', '25 hours'])
      await pool`insert into login_failures values ('\\x01', now() - ${age}::interval)`;
    await session('running', '7 days', null);
    await session('ended now', '7 days', '-1 hour');
    await session('ended long ago', '7 days', '-25 hours');
    await session('ran out', '-25 hours', null);

    expect(await run()).toEqual({
      idempotency_keys: 1,
      login_failures: 1,
      sessions: 2,
      uploads: 0,
      emails: 0,
      sign_ups: 0,
      one_time_tokens: 0,
      known_networks: 0,
      webhook_attempts: 0,
      webhook_deliveries: 0,
      notification_payloads: 0,
      request_logs: 0,
    });
    const keys = await pool`select key from idempotency_keys`;
    expect(keys.map((row) => row['key'])).toEqual(['young']);
    const kept = await pool`select id from sessions order by id`;
    expect(kept.map((row) => row['id'])).toEqual(['ended now', 'running']);
    const spent = await pool`select session_id from spent_refresh_tokens order by session_id`;
    expect(spent.map((row) => row['session_id'])).toEqual(['ended now', 'running']);
  });

  test('e-mails after seven days, sign-ups and tokens when they expire, networks after 90 days', async () => {
    for (const [id, age] of [
      ['young', '6 days'],
      ['old', '8 days'],
    ])
      await pool`
        insert into emails_outbox (id, kind, recipient, due_at, created_at)
        values (${id!}, 'sign_up', 'a@example.test', now(), now() - ${age!}::interval)`;
    for (const [id, life] of [
      ['waiting', '1 hour'],
      ['expired', '-1 hour'],
    ]) {
      await pool`
        insert into sign_ups (id, email, expires_at, created_at)
        values (${id!}, 'a@example.test', now() + ${life!}::interval, now())`;
      await pool`
        insert into one_time_tokens (token_hash, purpose, origin, tenant_id, user_id, expires_at, created_at)
        values (${Buffer.from(id!)}, 'password', 'email', 't', 'u', now() + ${life!}::interval, now())`;
    }
    for (const age of ['89 days', '91 days'])
      await pool`
        insert into known_networks (subject, seen_at)
        values (${Buffer.from(age)}, now() - ${age}::interval)`;
    expect(await run()).toMatchObject({
      emails: 1,
      sign_ups: 1,
      one_time_tokens: 1,
      known_networks: 1,
      webhook_attempts: 0,
    });
    const kept =
      await pool`select id from emails_outbox union all select id from sign_ups order by id`;
    expect(kept.map((row) => row['id'])).toEqual(['waiting', 'young']);
  });

  test('payloads of delivered notifications after 90 days; the notification stays', async () => {
    await pool`insert into webhook_endpoints ${pool({
      id: 'endpoint', tenant_id: 't', environment_id: 'e', url: 'https://example.test', secret: 's', event_types: [], enabled: true, status: 'published',
      created_at: new Date(), updated_at: new Date(), created_by: 'u', updated_by: 'u',
    })}`; // prettier-ignore
    for (const [id, age, delivered] of [
      ['young', '90 days', true],
      ['old', '92 days', true],
      ['undelivered', '92 days', false],
      ['awaited', '92 days', true],
    ] as const)
      await pool`
        insert into outbox (id, tenant_id, environment_id, event_type, entity_type, entity_id, payload,
                            occurred_at, delivered_at)
        values (${id}, 't', 'e', 'customer.created', 'customer', 'c', '{"customer": {}}',
                now() - ${age}::interval, ${delivered ? new Date() : null})`;
    await pool`
      insert into webhook_deliveries
        (id, tenant_id, environment_id, endpoint_id, event_id, sequence, event_type, entity_type, entity_id,
         delivery_status, created_at, updated_at)
      select 'delivery', tenant_id, environment_id, 'endpoint', id, sequence, event_type, entity_type, entity_id,
             'pending', now(), now()
        from outbox where id = 'awaited'`;
    expect(await run()).toMatchObject({ notification_payloads: 1 });
    const kept = await pool`select id, payload is null as is_empty from outbox order by sequence`;
    expect(kept.map((row) => [row['id'], row['is_empty']])).toEqual([
      ['young', false],
      ['old', true],
      ['undelivered', false],
      ['awaited', false],
    ]);
  });

  test('ended deliveries after 90 days, or as configured; pending ones never', async () => {
    const deliver = (id: string, state: string, age: string) => pool`
      insert into webhook_deliveries
        (id, tenant_id, environment_id, endpoint_id, event_id, sequence, event_type, entity_type, entity_id,
         delivery_status, created_at, updated_at)
      values (${id}, 't', 'e', 'endpoint', ${`event of ${id}`}, 1, 'customer.created', 'customer', 'c',
              ${state}, now() - interval '1 year', now() - ${age}::interval)`;
    await pool`delete from webhook_deliveries`;
    await deliver('young', 'delivered', '89 days');
    await deliver('old', 'delivered', '91 days');
    await deliver('exhausted', 'exhausted', '91 days');
    await deliver('waiting', 'pending', '91 days');
    expect(await run()).toMatchObject({ webhook_deliveries: 2 });
    const kept = async () =>
      (await pool`select id from webhook_deliveries order by id`).map((row) => row['id']);
    expect(await kept()).toEqual(['waiting', 'young']);
    expect(await run({ webhook_delivery_days: 7 })).toMatchObject({ webhook_deliveries: 1 });
    expect(await kept()).toEqual(['waiting']);
  });

  test('uploaded files after seven days, but for one that a task still reads', async () => {
    await pool`insert into environments (id, tenant_id, name, type) values ('e', 't', 'E', 'development')`;
    const upload = async (id: string, age: string, task_status: string | null) => {
      await pool`
        insert into uploads (id, tenant_id, environment_id, file_type, content, size_bytes, sha256,
                             columns, row_count, created_at)
        values (${id}, 't', 'e', 'CSV', 'x', 1, '', '{}', 1, now() - ${age}::interval)`;
      if (task_status !== null)
        await pool`
          insert into tasks (id, tenant_id, environment_id, task_type, entity_type, file_provider,
                             upload_id, file_type, task_status, total_records)
          values (${`task ${id}`}, 't', 'e', 'IMPORT', 'EVENTS', 'csvbox', ${id}, 'CSV', ${task_status}, 1)`;
    };
    await upload('young', '6 days', null);
    await upload('unused', '8 days', null);
    await upload('done', '8 days', 'COMPLETED');
    await upload('waiting', '8 days', 'PENDING');
    expect(await run()).toMatchObject({ uploads: 2 });
    const kept = await pool`select id from uploads order by id`;
    expect(kept.map((row) => row['id'])).toEqual(['waiting', 'young']);
  });
});
