import { createHmac } from 'node:crypto';
import postgres from 'postgres';
import { LEAKPROOF_STATEMENTS } from './leakproof-functions.ts';
import { SYSTEM_ROLE } from './row-security.ts';
import { API_ROLE } from './scoped-pool.ts';

/**
 * Owns the database and everything in it: for migrations. Not a superuser: no files, no programs, no other
 * role.
 */
const OWNER_LOGIN = 'meterline_owner';
/** For jobs, stream and the lookup of keys: rows of all tenants, no change of tables. */
const WORK_LOGIN = 'meterline_work';

export interface EmbeddedLogins {
  readonly owner: Login;
  readonly work: Login;
  /** For requests of callers: one tenant at a time, and no other role to switch to. */
  readonly api: Login;
}

export interface Login {
  readonly name: string;
  readonly password: string;
}

/** Passwords are derived from the superuser's, so only one file has to be kept. */
export function embeddedLogins(superuserPassword: string): EmbeddedLogins {
  const login = (name: string): Login => ({
    name,
    password: createHmac('sha256', superuserPassword).update(name).digest('hex'),
  });
  return { owner: login(OWNER_LOGIN), work: login(WORK_LOGIN), api: login(API_ROLE) };
}

/**
 * Creates the logins of the embedded server, as its superuser, who is not used for anything else afterwards.
 * Migrations grant their privileges on tables. Works with connections to any database of the server.
 */
export async function makeLogins(db: postgres.Sql, logins: EmbeddedLogins): Promise<void> {
  const roles = await db<{ rolname: string }[]>`select rolname from pg_roles`;
  const known = new Set(roles.map(({ rolname }) => rolname));
  if (!known.has(SYSTEM_ROLE))
    await db.unsafe(`create role ${SYSTEM_ROLE} nologin nosuperuser nobypassrls`);
  for (const { name, password } of Object.values(logins) as Login[])
    await db.unsafe(
      `${known.has(name) ? 'alter' : 'create'} role ${name}
         login nosuperuser nobypassrls nocreatedb nocreaterole noreplication password '${password}'`,
    );
  await db.unsafe(`grant ${API_ROLE}, ${SYSTEM_ROLE} to ${OWNER_LOGIN}`);
  await db.unsafe(`grant ${SYSTEM_ROLE} to ${WORK_LOGIN}`);
}

/**
 * Transfers the database, and everything that an earlier release created in it as superuser, to the owner.
 * Locks each transferred object once.
 */
export async function giveToOwner(db: postgres.Sql, database: string): Promise<void> {
  await db.unsafe(`alter database ${database} owner to ${OWNER_LOGIN}`);
  await db.unsafe(`revoke temporary, create on database ${database} from public`);
  await db.unsafe(`alter schema public owner to ${OWNER_LOGIN}`);
  await db.unsafe(`
    do $$
    declare statement text;
    begin
      for statement in
        select format('alter %s %s owner to ${OWNER_LOGIN}',
                      case relkind when 'S' then 'sequence' when 'v' then 'view'
                                   when 'm' then 'materialized view' else 'table' end,
                      oid::regclass)
          from pg_class
         where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
           and relowner <> '${OWNER_LOGIN}'::regrole
           -- A sequence of a column goes with its table.
           and not exists (select from pg_depend d
                            where d.classid = 'pg_class'::regclass and d.objid = pg_class.oid
                              and d.deptype in ('a', 'i', 'e'))
        union all
        select format('alter routine %s owner to ${OWNER_LOGIN}', oid::regprocedure)
          from pg_proc
         where pronamespace = 'public'::regnamespace and proowner <> '${OWNER_LOGIN}'::regrole
           and not exists (select from pg_depend d
                            where d.classid = 'pg_proc'::regclass and d.objid = pg_proc.oid
                              and d.deptype = 'e')
        union all
        select format('alter type %s owner to ${OWNER_LOGIN}', oid::regtype)
          from pg_type
         where typnamespace = 'public'::regnamespace and typtype in ('e', 'd')
           and typowner <> '${OWNER_LOGIN}'::regrole
           and not exists (select from pg_depend d
                            where d.classid = 'pg_type'::regclass and d.objid = pg_type.oid
                              and d.deptype = 'e')
      loop
        execute statement;
      end loop;
    end $$`);
}

/** Marks the functions of searches by index, which only a superuser may do. */
export async function markLeakproof(db: postgres.Sql): Promise<void> {
  for (const statement of LEAKPROOF_STATEMENTS) await db.unsafe(statement);
}
