import postgres from 'postgres';
import type { Pool } from '../../postgres/client.ts';
import {
  auditTenantTables,
  entityType,
  isAudited,
  NOT_AUDITED,
} from '../../postgres/audit-triggers.ts';
import { tenantTables } from '../../postgres/tenant-tables.ts';
import { scopedPool, type Actor } from '../../postgres/scoped-pool.ts';
import { AUDITED_TYPES } from '../../schemas/audit-words.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const AT = '2026-01-01T00:00:00Z';
const SCOPE = { tenant_id: 'tenant_a', environment_id: 'env_a' };
const ACTOR: Actor = {
  kind: 'user',
  user_id: 'user_1',
  key_id: 'secret_1',
  request_id: 'request-1',
  ip: '127.0.0.9',
};

/** Every write of a tenant's record leaves a row, in the transaction of the write (tenancy S25). */
describe('audit log', () => {
  let database: TestDatabase;
  let admin: Pool;
  let api: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    admin = database.pool;
    api = scopedPool(admin, { scope: SCOPE, actor: ACTOR });
    await admin`insert into tenants (id, name) values ('tenant_a', 'A')`;
    await admin`insert into environments (id, tenant_id, name, type) values ('env_a', 'tenant_a', 'A', 'development')`;
  });
  afterAll(() => database.drop());

  interface Entry {
    readonly action: string;
    readonly before: Record<string, unknown> | null;
    readonly after: Record<string, unknown> | null;
    readonly [column: string]: unknown;
  }
  const entries = (entityId: string) =>
    admin<Entry[]>`select * from audit_log where entity_id = ${entityId} order by sequence`;

  test('creating, changing and archiving a record logs the user, the action, and the values before and after', async () => {
    await api`insert into plans ${api({ id: 'plan_1', ...SCOPE, name: 'Pro' })}`;
    await api.begin(
      (tx) => tx`update plans set name = 'Max', updated_at = now() where id = 'plan_1'`,
    );
    await api`update plans set status = 'archived' where id = 'plan_1'`;
    await api`delete from plans where id = 'plan_1'`;
    const [created, updated, archived, deleted] = await entries('plan_1');
    expect(created).toMatchObject({
      tenant_id: 'tenant_a', environment_id: 'env_a', entity_type: 'plan', action: 'created', before: null,
      actor_kind: 'user', user_id: 'user_1', key_id: 'secret_1', request_id: 'request-1', ip: '127.0.0.9',
      after: { id: 'plan_1', name: 'Pro', status: 'published' },
    }); // prettier-ignore
    expect(updated).toMatchObject({
      action: 'updated',
      before: { name: 'Pro' },
      after: { name: 'Max' },
    });
    expect(archived).toMatchObject({ action: 'deleted', before: { status: 'published' } });
    expect(deleted).toMatchObject({ action: 'deleted', before: { name: 'Max' }, after: null });
  });

  test('each row of a statement is one entry; a write that is rolled back leaves none', async () => {
    const plans = Array.from({ length: 20 }, (_, index) => ({
      id: `plan_m${index}`,
      ...SCOPE,
      name: 'M',
    }));
    await api`insert into plans ${api(plans)}`;
    const undone = api.begin(async (tx) => {
      await tx`update plans set name = 'N'`;
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    const [row] = await admin<{ count: number }[]>`
      select count(*)::int as count from audit_log where entity_id like 'plan_m%'`;
    expect(row!.count).toBe(20);
  });

  test('columns that a process maintains are not logged as changes', async () => {
    await admin`insert into api_keys ${admin({ id: 'secret_u', ...SCOPE, name: 'k', key_hash: Buffer.from('1'), display_id: 'x' })}`;
    await admin`update api_keys set last_used_at = now() where id = 'secret_u'`;
    await admin`update api_keys set name = name, updated_at = now() where id = 'secret_u'`;
    expect((await entries('secret_u')).map(({ action }) => action)).toEqual(['created']);
  });

  test('a change beside a maintained column logs the change only, also of a column that was added later', async () => {
    await admin`
      insert into webhook_endpoints ${admin({ id: 'we_1', ...SCOPE, url: 'https://example.test', event_types: [], status: 'published', created_at: AT, updated_at: AT, created_by: '', updated_by: '', enabled: true, secret: 'x' })}`;
    const change = (text: string) =>
      admin.unsafe(`update webhook_endpoints set ${text} where id = 'we_1'`);
    await change(`failing_since = now()`);
    await change(`failing_since = null, url = 'https://example.org', updated_at = now()`);
    await change(`url = url`);
    await admin`alter table webhook_endpoints add column remark text`;
    expect(await auditTenantTables(admin)).toEqual(['webhook_endpoints']);
    expect(await auditTenantTables(admin)).toEqual([]);
    await change(`remark = 'new', failing_since = now()`);
    const changes = (await entries('we_1')).map(({ action, before, after }) => ({
      action,
      before,
      after,
    }));
    expect(changes.slice(1)).toEqual([
      {
        action: 'updated',
        before: { url: 'https://example.test' },
        after: { url: 'https://example.org' },
      },
      { action: 'updated', before: { remark: null }, after: { remark: 'new' } },
    ]);
  });

  test('the log contains no secret and no personal data', async () => {
    const canary = 'canary-5d1f';
    const hash = Buffer.from(canary);
    await api`insert into users ${api({ id: 'user_c', tenant_id: 'tenant_a', type: 'user', password_hash: canary })}`;
    await api`update users set password_hash = ${`${canary}2`} where id = 'user_c'`;
    await api`insert into api_keys ${api({ id: 'secret_c', ...SCOPE, name: 'k', key_hash: hash, display_id: 'x' })}`;
    await api`insert into settings ${api({
      id: 'setting_c', ...SCOPE, key: 'x',
      value: api.json({ sso: { client_secret: canary, list: [{ api_key: canary, kept: 'yes' }] } }),
    })}`; // prettier-ignore
    await api`insert into customers ${api({ id: 'cust_c', ...SCOPE, external_id: 'e', name: canary, email: canary })}`;
    await api`update customers set email = ${`${canary}2`} where id = 'cust_c'`;

    const rows = await admin<{ text: string }[]>`select l::text as text from audit_log l`;
    const hex = hash.toString('hex');
    expect(rows.filter(({ text }) => text.includes(canary) || text.includes(hex))).toEqual([]);
    const [, password] = await entries('user_c');
    expect(password).toMatchObject({
      before: { password_hash: '[redacted]' },
      after: { password_hash: '[redacted]' },
    });
    const [setting] = await entries('setting_c');
    expect(setting!.after!['value']).toEqual({
      sso: { client_secret: '[redacted]', list: [{ api_key: '[redacted]', kept: 'yes' }] },
    });
    const [, email] = await entries('cust_c');
    expect(email!.after).toEqual({ email: '[personal]' });
  });

  test('an entry of a process has the name of its job, or of the process', async () => {
    const job = scopedPool(admin, { scope: null, actor: { kind: 'system', job: 'close-periods' } });
    await job`insert into plans ${job({ id: 'plan_j', ...SCOPE, name: 'J' })}`;
    await admin`insert into plans ${admin({ id: 'plan_p', ...SCOPE, name: 'P' })}`;
    expect(await entries('plan_j')).toMatchObject([{ actor_kind: 'system', job: 'close-periods' }]);
    expect(await entries('plan_p')).toMatchObject([{ actor_kind: 'system', job: 'test' }]);
  });

  test('entries cannot be changed, deleted or written by hand', async () => {
    const attempts = [
      'update audit_log set ip = null',
      'delete from audit_log',
      'truncate audit_log',
    ];
    for (const attempt of attempts) {
      await expect(admin.unsafe(attempt)).rejects.toMatchObject({ code: 'ML002' });
      const asApi = admin.begin(async (tx) => {
        await tx`select set_config('role', 'meterline_api', true), set_config('meterline.tenant', 'tenant_a', true)`;
        await tx.unsafe(attempt);
      });
      await expect(asApi).rejects.toMatchObject({ code: '42501' });
    }
    const forged = api`insert into audit_log (tenant_id, environment_id, entity_type, entity_id, action, actor_kind)
                       values ('tenant_a', 'env_a', 'plan', 'plan_1', 'created', 'user')`;
    await expect(forged).rejects.toMatchObject({ code: '42501' });
  });

  // A connection plans the comparison once, for the rows of its first change, and keeps the plan.
  test('the old and the new rows of a change are joined by a hash: a change of many rows takes no squared time', async () => {
    const plans: string[] = [];
    const onnotice = ({ detail }: { detail?: string }) => void plans.push(detail ?? '');
    const own = postgres(database.url, { max: 1, onnotice });
    await own`insert into tax_rates ${own({ id: 'tax_1', ...SCOPE, name: 'T', code: 't', tax_rate_type: 'percentage', percentage_value: '1', created_at: AT, updated_at: AT })}`;
    await own`set debug_print_plan = on`;
    await own`set client_min_messages = log`;
    await own`update tax_rates set name = 'U' where id = 'tax_1'`;
    await own.end({ timeout: 1 });
    const [comparison, ...others] = plans.filter((plan) => plan.includes('new_rows'));
    expect(others).toEqual([]);
    expect(comparison!.match(/\{(HASH|MERGE)JOIN/g)).toHaveLength(1);
  });

  test('the types that a reader may filter by are those of the audited tables', async () => {
    const types = (await tenantTables(admin)).filter(isAudited).map(({ name }) => entityType(name));
    expect([...AUDITED_TYPES]).toEqual([...types].sort());
  });

  test('every table of a tenant is audited, or listed with the reason', async () => {
    const tables = await tenantTables(admin);
    const silent = tables.filter((table) => !isAudited(table) && !(table.name in NOT_AUDITED));
    expect(silent.map(({ name }) => name)).toEqual([]);
    const triggers = await admin`
      select distinct tgrelid from pg_trigger where tgname in ('audit_created', 'audit_updated', 'audit_deleted')`;
    expect(triggers.length).toBe(tables.filter(isAudited).length);
  });

  test.each([
    ['tax_rates', 'tax_rate'],
    ['entries', 'entry'],
    ['addresses', 'address'],
    ['price_units', 'price_unit'],
    ['invoices', 'invoice'],
  ])('rows of %s are a %s', (table, type) => expect(entityType(table)).toBe(type));
});
