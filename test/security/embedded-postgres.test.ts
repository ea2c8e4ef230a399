import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import postgres from 'postgres';
import { connectPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../postgres/embedded.ts';
import { countLeaky, LEAKPROOF_STATEMENTS } from '../../postgres/leakproof-functions.ts';
import { migratePostgres } from '../../postgres/migrate.ts';

/**
 * The embedded Postgres listens on this machine for everybody who has an account on it. Passwords are in
 * files of their user, and the logins that the product works with are no superusers: a statement that was
 * smuggled in reads no file, starts no program and takes no other role.
 */
describe('the embedded Postgres', () => {
  let directory: string;
  let server: EmbeddedPostgres;
  const start = () =>
    startEmbeddedPostgres({ directory: join(directory, 'postgres'), settings: { fsync: 'off' } });
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'meterline-engine-'));
    server = await start();
    // As an earlier release did: everything belongs to the superuser.
    const pool = connectPostgres({ url: server.url, applicationName: 'test', maxConnections: 2 });
    await migratePostgres(pool);
    // As on a server whose migrations never ran as superuser.
    await pool.unsafe(LEAKPROOF_STATEMENTS.join(' ').replaceAll('leakproof', 'not leakproof'));
    await pool.end();
    await server.stop();
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const logins = () => ({ owner: server.ownerUrl, work: server.workUrl, api: server.apiUrl });
  const withLogin = async <Result>(url: string, work: (sql: postgres.Sql) => Promise<Result>) => {
    const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 30 });
    return await work(sql).finally(() => sql.end({ timeout: 1 }));
  };

  test('its passwords are in no arguments and no environment, and in a file of its own user', () => {
    const secrets = [server.url, ...Object.values(logins())].map((url) => new URL(url).password);
    expect(new Set(secrets).size).toBe(4);
    const seen = [
      execFileSync('ps', ['-o', 'args=', '-p', String(server.pid)]).toString(),
      ...(process.platform === 'linux'
        ? [readFileSync(`/proc/${server.pid}/environ`, 'utf8')]
        : []),
    ].join('\n');
    expect(seen).toContain('postgres');
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThanOrEqual(48);
      expect(seen).not.toContain(secret);
    }
    const modeOf = (name: string) => statSync(join(directory, 'postgres', name)).mode & 0o777;
    expect([modeOf('.'), modeOf('data'), modeOf('password')]).toEqual([0o700, 0o700, 0o600]);
  });

  test('every connection needs a password, also from this machine', async () => {
    const rules = readFileSync(join(directory, 'postgres/data/pg_hba.conf'), 'utf8')
      .split('\n')
      .filter((line) => /^\s*(local|host)/.test(line));
    expect(rules.length).toBeGreaterThan(0);
    expect(rules.filter((line) => !/scram-sha-256\s*$/.test(line))).toEqual([]);
    for (const password of ['', 'postgres', 'wrong']) {
      const url = new URL(server.url);
      url.password = password;
      await expect(withLogin(url.href, (sql) => sql`select 1`)).rejects.toThrow();
    }
  });

  test('it listens on the loopback interface only, and on no socket file', async () => {
    await withLogin(server.url, async (sql) => {
      const [row] = await sql`
        select current_setting('listen_addresses') as addresses,
               current_setting('unix_socket_directories') as sockets`;
      expect(row).toEqual({ addresses: '127.0.0.1', sockets: '' });
    });
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of others) {
      const socket = connect(Number(new URL(server.url).port), address);
      await expect(once(socket, 'connect')).rejects.toThrow();
    }
  });

  test('no login of the product is a superuser, may make roles or databases, or see past row security', async () => {
    await withLogin(server.url, async (sql) => {
      const rows = await sql`
        select rolname, rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as may,
               rolcanlogin as logs_in
          from pg_roles where rolname like 'meterline%' order by rolname`;
      expect([...rows]).toEqual([
        { rolname: 'meterline_api', may: false, logs_in: true },
        { rolname: 'meterline_owner', may: false, logs_in: true },
        { rolname: 'meterline_system', may: false, logs_in: false },
        { rolname: 'meterline_work', may: false, logs_in: true },
      ]);
      const superusers = await sql`select rolname from pg_roles where rolsuper`;
      expect(superusers.map(({ rolname }) => rolname)).toEqual(['postgres']);
    });
  });

  test('searches behind row security use the indexes of text and metadata', async () => {
    await withLogin(server.ownerUrl, async (sql) => {
      // Few rows: Postgres would use any other index.
      await sql.unsafe(`
        begin;
        alter table customers drop constraint customers_pkey cascade;
        drop index customers_external_id_key, customers_environment_id_idx, customers_updated_at_idx,
                   customers_name_idx, customers_external_id_idx, customers_email_idx;
        set local role meterline_api;
        set local enable_seqscan = off`);
      const planOf = async (condition: string): Promise<string> => {
        const rows = await sql.unsafe(
          `explain select id from customers where tenant_id = 't' and environment_id = 'e' and ${condition}`,
        );
        return rows.map((row) => row['QUERY PLAN']).join('\n');
      };
      expect(await planOf(`name ilike '%globex%'`)).toContain('Index Cond: (name ~~* ');
      expect(await planOf(`metadata @> '{"a":"b"}'`)).toContain('Index Cond: (metadata @> ');
    });
    const pool = connectPostgres({ url: server.ownerUrl, applicationName: 'test' });
    expect(await countLeaky(pool)).toBe(0);
    await pool.end();
  });

  test('the logins of docker-compose.yml are made with the same marks', () => {
    const script = readFileSync('scripts/compose/postgres-logins.sh', 'utf8');
    for (const statement of LEAKPROOF_STATEMENTS) expect(script).toContain(statement);
  });

  test('what an earlier release made as superuser belongs to the owner, and migrates under it', async () => {
    await withLogin(server.ownerUrl, async (sql) => {
      const strangers = await sql`
        select relname from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S')
           and relowner <> current_user::regrole
        union all
        select p.proname from pg_proc p
         where pronamespace = 'public'::regnamespace and proowner <> current_user::regrole
           and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`;
      expect([...strangers]).toEqual([]);
    });
    const pool = connectPostgres({
      url: server.ownerUrl,
      applicationName: 'test',
      maxConnections: 2,
    });
    await migratePostgres(pool);
    await pool`create table later (id text primary key, tenant_id text not null)`;
    await pool`drop table later`;
    await pool.end();
  });

  const OUTSIDE: readonly string[] = [
    "copy (select 1) to program 'id'",
    "copy later from program 'id'",
    "create temp table t (a text); copy t from '/etc/passwd'",
    "copy (select 1) to '/tmp/meterline-x'",
    "select pg_read_file('/etc/passwd')",
    "select pg_read_binary_file('pg_hba.conf')",
    "select pg_ls_dir('/')",
    "select lo_import('/etc/passwd')",
    "select lo_export(1, '/tmp/meterline-x')",
    "alter system set archive_command = 'id'",
    'select pg_reload_conf()',
    'create role other superuser',
    'alter role meterline_work superuser',
    "alter role postgres password 'x'",
    'create database other',
    'set role postgres',
    'set session authorization postgres',
    'create extension dblink',
    'create extension file_fdw',
    'create language plperlu',
    "create function f() returns int language c as 'libc', 'getpid'",
    'select * from pg_authid',
    'set session_replication_role = replica',
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'postgres'",
    "create subscription s connection 'host=127.0.0.1' publication p",
  ];

  test.each(['owner', 'work', 'api'] as const)(
    'the login %s reaches nothing outside of the database',
    async (name) => {
      const reached: string[] = [];
      for (const statement of OUTSIDE)
        await withLogin(logins()[name], async (sql) => {
          const rows = await sql.unsafe(statement).catch(() => null);
          if (rows !== null && !(statement.includes('pg_terminate') && rows.length === 0))
            reached.push(statement);
        });
      expect(reached).toEqual([]);
    },
  );

  test('the login of jobs and stream works on rows of all tenants, and changes no table', async () => {
    await withLogin(server.workUrl, async (sql) => {
      await sql`insert into tenants (id, name) values ('tenant_a', 'A'), ('tenant_b', 'B')`;
      const seen = await sql`select id from tenants order by id`;
      expect(seen.map(({ id }) => id)).toEqual(['tenant_a', 'tenant_b']);
      await sql`update meter_catalog set version = version + 1`;
      for (const statement of [
        'create table t (a int)',
        'create temp table t (a int)',
        'alter table tenants add column x int',
        'drop table tenants',
        'truncate tenants cascade',
        'alter table tenants disable row level security',
        'alter table tenants disable trigger all',
        'drop policy tenant_isolation on users',
        'create schema other',
      ])
        await expect(sql.unsafe(statement)).rejects.toThrow(/must be owner|permission denied/);
    });
    await withLogin(server.apiUrl, async (sql) => {
      expect(await sql`select id from tenants`).toHaveLength(0);
      await expect(sql`set role meterline_work`).rejects.toThrow(/permission denied/);
      await expect(sql`set role meterline_system`).rejects.toThrow(/permission denied/);
    });
  });
});
