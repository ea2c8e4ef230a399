import postgres from 'postgres';
import type { Db, Fragment } from './client.ts';
import { API_ROLE } from './scoped-pool.ts';
import { tenantTables, type TenantTable } from './tenant-tables.ts';

/**
 * Role of jobs, the stream, the lookup of keys, sign-up and migrations: their work spans tenants. A login
 * that owns the tables without being a superuser sees rows only through this role.
 */
export const SYSTEM_ROLE = 'meterline_system';

type Privilege = 'select' | 'insert' | 'update' | 'delete';
const EVERYTHING: readonly Privilege[] = ['select', 'insert', 'update', 'delete'];

/**
 * Privileges of the API's role on tables that belong to no tenant: only these. On tables of a tenant it may
 * do everything within its scope, except on those of `ON_TENANT_TABLES`.
 */
const ON_OTHER_TABLES: Readonly<Record<string, readonly Privilege[]>> = {
  // A change of a meter takes the next catalog number, which the stream reads.
  meter_catalog: ['select', 'update'],
  // Offsets in the log from which a version counts, read for versions of the caller's own meters.
  meter_live: ['select'],
  // A person who changes their password gets an e-mail.
  emails_outbox: ['insert'],
  // Rows of the audit log up to here are chained; a row without a link below it is reported.
  audit_chain_progress: ['select'],
};
const ON_TENANT_TABLES: Readonly<Record<string, readonly Privilege[]>> = {
  // Only triggers write.
  audit_log: ['select'],
  // People verify their chain; only a job writes.
  audit_chain: ['select'],
};

interface TableState {
  readonly name: string;
  readonly enabled: boolean;
  readonly forced: boolean;
  readonly policies: readonly string[];
  readonly api_privileges: readonly Privilege[];
  readonly system_privileges: readonly Privilege[];
}

/**
 * The second wall (tenancy S1): every table of a tenant has row-level security, forced for the owner
 * too, with one policy for each of the two roles. Runs after every migration, compares with the database, and
 * changes what is missing: a table of a later migration is protected without being listed. If nothing is
 * missing it takes no lock. Returns the changed tables. Call it in a transaction, after `makeDatabaseRoles`:
 * a table with row security but without its policies would appear empty to running processes.
 */
export async function protectTenantTables(db: Db): Promise<string[]> {
  const states = new Map((await tableStates(db)).map((state) => [state.name, state]));
  const tenants = await tenantTables(db);
  const changed = new Set<string>();
  const change = async (table: string, statement: Fragment): Promise<void> => {
    changed.add(table);
    await statement;
  };

  for (const table of tenants) {
    const { name } = table;
    const state = states.get(name)!;
    if (!state.enabled) await change(name, db`alter table ${db(name)} enable row level security`);
    if (!state.forced) await change(name, db`alter table ${db(name)} force row level security`);
    if (!state.policies.includes('tenant_isolation'))
      await change(
        name,
        db`create policy tenant_isolation on ${db(name)} to ${db(API_ROLE)}
           using (${visible(db, table)}) with check (${visible(db, table)})`,
      );
    if (!state.policies.includes('system_access'))
      await change(
        name,
        db`create policy system_access on ${db(name)} to ${db(SYSTEM_ROLE)}
           using (true) with check (true)`,
      );
  }

  const tenantNames = new Set(tenants.map(({ name }) => name));
  for (const state of states.values()) {
    const { name } = state;
    const api = tenantNames.has(name)
      ? (ON_TENANT_TABLES[name] ?? EVERYTHING)
      : (ON_OTHER_TABLES[name] ?? []);
    const wanted: [string, readonly Privilege[], readonly Privilege[]][] = [
      [API_ROLE, api, state.api_privileges],
      [SYSTEM_ROLE, EVERYTHING, state.system_privileges],
    ];
    for (const [role, privileges, held] of wanted) {
      for (const privilege of EVERYTHING) {
        if (privileges.includes(privilege) === held.includes(privilege)) continue;
        const word = keyword(db, privilege);
        await change(
          name,
          privileges.includes(privilege)
            ? db`grant ${word} on ${db(name)} to ${db(role)}`
            : db`revoke ${word} on ${db(name)} from ${db(role)}`,
        );
      }
    }
  }
  return [...changed];
}

/**
 * Rows of the tenant that are in its environment or, with the empty environment, the tenant's own. Outside a
 * scoped transaction the settings are empty: then no row is visible and none can be written. A scope of the
 * whole tenant is `*`.
 */
function visible(db: Db, table: TenantTable): Fragment {
  const tenant = db`${db(table.tenant_column)} = nullif(current_setting('meterline.tenant', true), '')`;
  return table.has_environment
    ? db`${tenant} and (
        environment_id = current_setting('meterline.environment', true)
        or environment_id = ''
        or current_setting('meterline.environment', true) = '*')`
    : tenant;
}

function keyword(db: Db, privilege: Privilege): Fragment {
  switch (privilege) {
    case 'select':
      return db`select`;
    case 'insert':
      return db`insert`;
    case 'update':
      return db`update`;
    case 'delete':
      return db`delete`;
  }
}

/** Privileges granted to the role itself, not those of a superuser. */
function tableStates(db: Db): Promise<TableState[]> {
  const privileges = (role: string): Fragment => db`
    array(select lower(p.privilege_type)
            from aclexplode(c.relacl) p
           where p.grantee = (select oid from pg_roles where rolname = ${role}))`;
  return db<TableState[]>`
    select c.relname as name, c.relrowsecurity as enabled, c.relforcerowsecurity as forced,
           array(select polname::text from pg_policy where polrelid = c.oid) as policies,
           ${privileges(API_ROLE)} as api_privileges,
           ${privileges(SYSTEM_ROLE)} as system_privileges
      from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
     order by c.relname`;
}

/**
 * Roles belong to the server, not to the database, so two databases may create them at once. The login
 * becomes a member of both: one to enter a scope, the other to work across tenants. Do not call it in a
 * transaction: a role that another database has just created is not a failure.
 */
export async function makeDatabaseRoles(db: Db): Promise<void> {
  for (const role of [API_ROLE, SYSTEM_ROLE]) {
    const [known] = await db`select 1 from pg_roles where rolname = ${role}`;
    if (known === undefined)
      await db`create role ${db(role)} nologin nosuperuser nobypassrls`.catch(refuseOr(role));
    const [may] = await db<{ may: boolean }[]>`
      select pg_has_role(current_user, ${role}, 'member') as may`;
    // The creator of a role becomes its administrator, which does not include membership.
    if (known === undefined || !may!.may)
      await db`grant ${db(role)} to current_user`.catch(refuseOr(role));
    await db`grant usage on schema ${db(await currentSchema(db))} to ${db(role)}`;
  }
}

async function currentSchema(db: Db): Promise<string> {
  const [row] = await db<{ name: string }[]>`select current_schema()::text as name`;
  return row!.name;
}

const ALREADY_THERE = ['42710', '23505'];
const MAY_NOT = '42501';

function refuseOr(role: string) {
  return (error: unknown): void => {
    if (!(error instanceof postgres.PostgresError)) throw error;
    if (ALREADY_THERE.includes(error.code)) return;
    if (error.code !== MAY_NOT) throw error;
    throw new Error(
      `The login of POSTGRES_URL may not make roles. Have a superuser run, and start again:\n` +
        `  create role ${role} nologin; grant ${role} to <the login>;\n` +
        `(docs/operations.md, Roles of the database)`,
      { cause: error },
    );
  };
}
