import { connectPostgres, type Pool, type Scope, type Transaction } from '../../postgres/client.ts';
import { migratePostgres } from '../../postgres/migrate.ts';
import {
  API_ROLE,
  connectAsApi,
  EVERY_ENVIRONMENT,
  scopedPool,
} from '../../postgres/scoped-pool.ts';
import { tenantTables, type TenantTable } from '../../postgres/tenant-tables.ts';
import { insertAnyRow } from '../support/any-row.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/metering-world.ts';

/**
 * The second wall (tenancy S1): the isolation matrix with the repositories' own conditions out of
 * the way. Statements without any condition run as the API's role; the database alone decides what they
 * meet. The tables are those that the database has, so a table of a later migration is in the matrix.
 */
describe('row security', () => {
  let api: TestApi;
  let tables: TenantTable[];
  let other: Record<string, Scope>;
  /** Tables for which a row of some scope could not be made up. */
  const rowless = new Set<string>();
  beforeAll(async () => {
    api = await startTestApi();
    const foreign = await api.newCaller();
    const beside = await api.newCaller({ inTenantOf: api });
    other = { 'another tenant': foreign.scope, 'another environment': beside.scope };
    tables = await tenantTables(api.pool);
    for (const table of tables)
      for (const scope of [api.scope, foreign.scope, beside.scope])
        if (table.name !== 'tenants' && !(await insertAnyRow(api.pool, table.name, scope)))
          rowless.add(table.name);
  });
  afterAll(() => api.close());

  /** Runs as the API's role with these settings, and takes everything back. */
  async function as<Result>(
    settings: Scope | null,
    work: (tx: Transaction) => Promise<Result>,
  ): Promise<Result> {
    let result: { readonly value: Result } | undefined;
    const undone = new Error('undone');
    await api.pool
      .begin(async (tx) => {
        if (settings !== null)
          await tx`select set_config('meterline.tenant', ${settings.tenant_id}, true),
                          set_config('meterline.environment', ${settings.environment_id}, true)`;
        await tx`select set_config('role', ${API_ROLE}, true)`;
        result = { value: await work(tx) };
        throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    return result!.value;
  }

  /** Rows that a statement met, or 0 where the database refused it. Any other failure is one. */
  const met = (
    settings: Scope | null,
    statement: (tx: Transaction) => PromiseLike<{ count: number }>,
  ) =>
    as(settings, async (tx) => (await statement(tx)).count).catch((error: { code?: string }) => {
      if (error.code === '42501') return 0;
      throw error;
    });

  const ofScope = (db: Pool | Transaction, table: TenantTable, scope: Scope) =>
    table.has_environment
      ? db`${db(table.tenant_column)} = ${scope.tenant_id} and environment_id = ${scope.environment_id}`
      : db`${db(table.tenant_column)} = ${scope.tenant_id}`;

  /** A row of the scope, as JSON; undefined where there is none. */
  async function aRow(table: TenantTable, scope: Scope): Promise<object | undefined> {
    const [found] = await api.pool<{ row: object }[]>`
      select to_jsonb(t) as row from ${api.pool(table.name)} t
       where ${ofScope(api.pool, table, scope)} limit 1`;
    return found?.row;
  }

  test.each(['another tenant', 'another environment', 'nothing set'])(
    'select, insert, update and delete of %s touch no row',
    async (whose) => {
      const leaks: string[] = [];
      let statements = 0;
      for (const table of tables) {
        if (whose === 'another environment' && !table.has_environment) continue;
        const settings = whose === 'nothing set' ? null : api.scope;
        const target = other[whose] ?? api.scope;
        const row = await aRow(table, target);
        const name = table.name;
        const attempts: Record<string, (tx: Transaction) => PromiseLike<{ count: number }>> = {
          select: (tx) => tx`select 1 from ${tx(name)} where ${ofScope(tx, table, target)}`,
          lock: (tx) =>
            tx`select 1 from ${tx(name)} where ${ofScope(tx, table, target)} for update`,
          update: (tx) =>
            tx`update ${tx(name)} set ${tx(table.tenant_column)} = ${tx(table.tenant_column)}
                where ${ofScope(tx, table, target)}`,
          delete: (tx) => tx`delete from ${tx(name)} where ${ofScope(tx, table, target)}`,
        };
        if (row !== undefined)
          attempts['insert'] = (tx) =>
            tx`insert into ${tx(name)} overriding system value
               select * from jsonb_populate_record(null::${tx(name)}, ${tx.json(row as never)})`;
        for (const [attempt, statement] of Object.entries(attempts)) {
          statements += 1;
          const count = await met(settings, statement);
          if (count !== 0) leaks.push(`${attempt} ${name}: ${count}`);
        }
      }
      const policies =
        await api.pool`select 1 from pg_policies where policyname = 'tenant_isolation'`;
      process.stdout.write(
        `row security, ${whose}: tables=${tables.length} policies=${policies.length} ` +
          `statements=${statements} without_rows=${[...rowless].join(',')} leaks=${leaks.length}\n`,
      );
      expect(leaks).toEqual([]);
      expect(policies.length).toBe(tables.length);
    },
  );

  test('a row cannot be moved to another tenant', async () => {
    const moved: string[] = [];
    for (const table of tables) {
      if ((await aRow(table, api.scope)) === undefined) continue;
      const count = await met(
        api.scope,
        (tx) => tx`update ${tx(table.name)}
                      set ${tx(table.tenant_column)} = ${other['another tenant']!.tenant_id}`,
      );
      if (count !== 0) moved.push(`${table.name}: ${count}`);
    }
    expect(moved).toEqual([]);
  });

  test('the scope sees its own rows, and the whole tenant’s where a route is about the tenant', async () => {
    const seen = async (environment_id: string) => {
      const scope = { tenant_id: api.scope.tenant_id, environment_id };
      return (
        await as(scope, (tx) => tx<{ id: string }[]>`select environment_id as id from customers`)
      ).map(({ id }) => id);
    };
    expect([...new Set(await seen(api.scope.environment_id))]).toEqual([api.scope.environment_id]);
    expect([...new Set(await seen(EVERY_ENVIRONMENT))].sort()).toEqual(
      [api.scope.environment_id, other['another environment']!.environment_id].sort(),
    );
  });

  test('a table of a later migration is protected by the next run, without being named', async () => {
    await api.pool`create table later_records (id text primary key, tenant_id text not null, environment_id text not null)`;
    await api.pool`insert into later_records values ('1', ${api.scope.tenant_id}, ${api.scope.environment_id})`;
    const count = async () =>
      await met(other['another tenant']!, (tx) => tx`select 1 from later_records`);
    await migratePostgres(api.pool);
    expect(await count()).toBe(0);
    expect(await met(api.scope, (tx) => tx`select 1 from later_records`)).toBe(1);
    await api.pool`drop table later_records`;
  });

  test('a table that is not the API’s is closed to it', async () => {
    for (const table of ['signing_keys', 'log_records', 'job_leases', 'schema_migrations']) {
      const refused = as(api.scope, (tx) => tx`select 1 from ${tx(table)}`);
      await expect(refused).rejects.toMatchObject({ code: '42501' });
    }
  });
});

describe.each([
  ['the login’s', false],
  ['the API’s', true],
])('a scoped pool over connections of %s role', (_whose, isApi) => {
  let api: TestApi;
  let scoped: Pool;
  let under: Pool;
  beforeAll(async () => {
    api = await startTestApi();
    under = isApi ? (await connectAsApi(serverOptions(api.pool)))! : api.pool;
    scoped = scopedPool(under, { scope: api.scope, actor: { kind: 'system' } });
  });
  afterAll(async () => {
    if (isApi) await under.end({ timeout: 1 });
    await api.close();
  });

  const settings = (db: Pool | Transaction) => db<{ role: string; tenant: string | null }[]>`
    select current_user::text as role, nullif(current_setting('meterline.tenant', true), '') as tenant`;
  const inside = () => ({ role: API_ROLE, tenant: api.scope.tenant_id });

  test('sets role and tenant for statements and transactions, and leaves nothing behind', async () => {
    const other = scopedPool(under, {
      scope: { tenant_id: 'tenant_other', environment_id: '' },
      actor: { kind: 'system' },
    });
    const rounds = Array.from({ length: 200 }, async (_, round) => {
      const [pool, expected] =
        round % 3 === 0
          ? [under, { role: isApi ? API_ROLE : 'postgres', tenant: null }]
          : round % 3 === 1
            ? [scoped, inside()]
            : [other, { role: API_ROLE, tenant: 'tenant_other' }];
      const [found] =
        round % 2 === 0 ? await settings(pool) : await pool.begin((tx) => settings(tx));
      expect({ ...found }).toEqual(expected);
    });
    await Promise.all(rounds);
  });

  test('a statement that fails fails alone, and is not committed', async () => {
    await expect(scoped`select 1 / 0`).rejects.toMatchObject({ code: '22012' });
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    await expect(scoped`select ${scoped.json(circular as never)}`).rejects.toThrow();
    const [found] = await settings(scoped);
    expect({ ...found }).toEqual(inside());
  });

  test('a lost connection fails its statement and is not handed out again', async () => {
    const lost = scoped`select pg_sleep(60), pg_backend_pid()`.catch((error: unknown) => error);
    await eventually(async () => {
      const rows = await api.pool`
        select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and state = 'active' and query like 'select pg_sleep(60)%'`;
      expect(rows.count).toBe(1);
    });
    expect(await lost).toBeInstanceOf(Error);
    for (let round = 0; round < 30; round += 1) {
      const [found] = await settings(scoped);
      expect({ ...found }).toEqual(inside());
    }
  });

  test('a scope that is refused keeps statements and transactions from running', async () => {
    const refused = scopedPool(under, {
      scope: { tenant_id: 'nul\0', environment_id: '' },
      actor: { kind: 'system' },
    });
    await expect(refused`select 1`).rejects.toMatchObject({ code: '22021' });
    await expect(refused.begin((tx) => tx`select 1`)).rejects.toMatchObject({ code: '22021' });
    const [found] = await settings(scoped);
    expect({ ...found }).toEqual(inside());
  });

  test('what would leave the scope is not offered', () => {
    expect(() => scoped.unsafe('select 1')).toThrow('would leave the scope');
    expect(() => scoped.reserve()).toThrow('would leave the scope');
    expect(() => scoped.notify('a', 'b')).toThrow('would leave the scope');
  });
});

describe('connections that begin as the API’s role', () => {
  test('see and write nothing while no scope is set', async () => {
    const api = await startTestApi();
    const pool = (await connectAsApi(serverOptions(api.pool)))!;
    expect((await pool`select 1 from users`).count).toBe(0);
    const { scope } = api;
    const row = { id: 'cust_1', ...scope, external_id: 'e', name: 'n' };
    await expect(pool`insert into customers ${pool(row)}`).rejects.toMatchObject({ code: '42501' });
    await pool.end({ timeout: 1 });
    await api.close();
  });

  test('are not made where the login may not have the role', async () => {
    const api = await startTestApi();
    const name = `stranger_${process.pid}`;
    await api.pool`create role ${api.pool(name)} login password 'stranger'`;
    const url = new URL(serverOptions(api.pool).url);
    url.username = name;
    url.password = 'stranger';
    expect(await connectAsApi({ url: url.toString(), applicationName: 'test' })).toBeNull();
    await api.pool`drop role ${api.pool(name)}`;
    await api.close();
  });
});

describe('the login that is the API’s role itself', () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = (await connectAsApi({ url: database.apiUrl, applicationName: 'test' }))!;
    for (const id of ['tenant_a', 'tenant_b'])
      await database.pool`insert into tenants (id, name) values (${id}, 'T')`;
  });
  afterAll(async () => {
    await pool.end({ timeout: 1 });
    await database.drop();
  });

  const scope = { tenant_id: 'tenant_a', environment_id: '' };
  const scoped = () => scopedPool(pool, { scope, actor: { kind: 'system' } });

  test('owns nothing, belongs to no other role and can make none', async () => {
    const [login] = await pool`
      select session_user::text as session, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
             (select count(*)::int from pg_auth_members m where m.member = r.oid) as member_of,
             (select count(*)::int from pg_class c where c.relowner = r.oid) as owns
        from pg_roles r where rolname = current_user`;
    expect({ ...login }).toEqual({
      session: API_ROLE,
      ...{ rolsuper: false, rolbypassrls: false, rolcreaterole: false, rolcreatedb: false },
      ...{ rolreplication: false, member_of: 0, owns: 0 },
    });
  });

  test.each([
    'reset role',
    'set role none',
    'set local role none',
    'reset all',
    'set session authorization default',
  ])('after `%s` it sees what it saw', async (statement) => {
    const connection = connectPostgres({
      url: database.apiUrl,
      applicationName: 'test',
      maxConnections: 1,
      settings: { role: API_ROLE },
    });
    await connection.unsafe(statement).catch(() => {});
    const [who] = await connection<{ who: string }[]>`select current_user::text as who`;
    const rows = await connection`select 1 from tenants`;
    await connection.end({ timeout: 1 });
    expect([who!.who, rows.count]).toEqual([API_ROLE, 0]);
    expect((await scoped()`select 1 from tenants`).count).toBe(1);
  });

  test.each([
    'set role postgres',
    'set role meterline_system',
    'set session authorization postgres',
    'alter table tenants disable row level security',
    'drop policy tenant_isolation on tenants',
    'alter role meterline_api bypassrls',
    'grant meterline_system to meterline_api',
    "set session_replication_role = 'replica'",
    'truncate tenants',
    "copy tenants to '/tmp/x'",
  ])('`%s` is refused', async (statement) => {
    const refused = pool.begin((tx) => tx.unsafe(statement));
    await expect(refused).rejects.toMatchObject({ code: '42501' });
  });

  test('works in a scope: it reads and writes the tenant’s rows, and its triggers log them', async () => {
    expect((await scoped()`update tenants set name = 'U'`).count).toBe(1);
    const names = await database.pool<{ name: string }[]>`select name from tenants order by id`;
    expect(names.map(({ name }) => name)).toEqual(['U', 'T']);
    expect((await scoped()`select 1 from audit_log`).count).toBe(2);
  });
});

describe('a login that is no superuser', () => {
  let admin: Pool;
  let login: Pool;
  let database: TestDatabase;
  const name = `operator_${process.pid}`;
  beforeAll(async () => {
    database = await createTestDatabase();
    admin = database.pool;
    await admin`create role ${admin(name)} login createrole nosuperuser password 'operator'`;
    await admin`grant ${admin(API_ROLE)} to ${admin(name)} with admin option`;
    await admin`grant meterline_system to ${admin(name)} with admin option`;
    await admin`create schema operated authorization ${admin(name)}`;
    await admin`alter role ${admin(name)} set search_path = operated, public`;
    const url = new URL(database.url);
    url.username = name;
    url.password = 'operator';
    login = connectPostgres({ url: url.toString(), applicationName: 'test', maxConnections: 3 });
  });
  afterAll(async () => {
    await login.end({ timeout: 1 });
    await admin`drop owned by ${admin(name)} cascade`;
    await admin`drop role ${admin(name)}`;
    await database.drop();
  });

  test('migrates, works across tenants, and sees one tenant in a scope', async () => {
    const [who] = await login<{ super: boolean }[]>`
      select rolsuper as super from pg_roles where rolname = current_user`;
    expect(who!.super).toBe(false);
    await migratePostgres(login);
    for (const id of ['tenant_a', 'tenant_b'])
      await login`insert into tenants (id, name) values (${id}, 'T')`;
    expect((await login`select 1 from tenants`).count).toBe(2);
    const scoped = scopedPool(login, {
      scope: { tenant_id: 'tenant_a', environment_id: '' },
      actor: { kind: 'system' },
    });
    expect((await scoped`select 1 from tenants`).count).toBe(1);
    expect((await scoped`update tenants set name = 'U'`).count).toBe(1);
    const log = await login<{ tenant_id: string }[]>`select tenant_id from audit_log`;
    expect(log.map(({ tenant_id }) => tenant_id)).toEqual(['tenant_a', 'tenant_b', 'tenant_a']);
    expect((await scoped`select 1 from audit_log`).count).toBe(2);
  });
});

/** How to reach the database of a pool. */
function serverOptions(pool: Pool): { url: string; applicationName: string } {
  const { host, port, database, user, pass } = pool.options;
  const url = new URL(`postgres://${host[0]}:${port[0]}/${database}`);
  url.username = user;
  url.password = String(pass ?? '');
  return { url: url.toString(), applicationName: 'test' };
}
