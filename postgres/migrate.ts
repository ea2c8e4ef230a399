import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { auditTenantTables } from './audit-triggers.ts';
import type { Pool } from './client.ts';
import { makeDatabaseRoles, protectTenantTables } from './row-security.ts';

// Next to this file in the sources; the build copies the folder next to the compiled file.
const MIGRATIONS = new URL('./migrations/', import.meta.url);

// Any constant works as long as no other code uses the same advisory lock.
const MIGRATION_LOCK = 7_305_811;

/**
 * Applies every migration that has not run yet, in order, each in its own transaction. Two processes that
 * start together take turns with an advisory lock. A migration edited after it ran is refused: the database
 * would differ from the file. Then every table gets its row security and its audit triggers. Returns the
 * names applied now.
 */
export async function migratePostgres(pool: Pool): Promise<string[]> {
  const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  const connection = await pool.reserve();
  const applied: string[] = [];
  try {
    await connection`select pg_advisory_lock(${MIGRATION_LOCK})`;
    await connection`
      create table if not exists schema_migrations (
        name text primary key,
        checksum text not null,
        applied_at timestamptz not null default now()
      )`;
    const done = new Map(
      (
        await connection<
          { name: string; checksum: string }[]
        >`select name, checksum from schema_migrations`
      ).map((row) => [row.name, row.checksum]),
    );
    for (const name of files) {
      const text = await readFile(new URL(name, MIGRATIONS), 'utf8');
      const checksum = createHash('sha256').update(text).digest('hex');
      const known = done.get(name);
      if (known !== undefined) {
        if (known !== checksum)
          throw new Error(`Migration ${name} was changed after it had been applied.`);
        continue;
      }
      await connection
        .unsafe(
          `begin;\n${text}\n;insert into schema_migrations (name, checksum) values ('${name}', '${checksum}');commit;`,
        )
        .simple()
        .catch(async (error: unknown) => {
          await connection.unsafe('rollback');
          throw new Error(`Migration ${name} failed: ${String(error)}`, { cause: error });
        });
      applied.push(name);
    }
    await makeDatabaseRoles(connection);
    await connection`begin`;
    try {
      await protectTenantTables(connection);
      await auditTenantTables(connection);
    } catch (error) {
      await connection`rollback`;
      throw error;
    }
    await connection`commit`;
  } finally {
    await connection`select pg_advisory_unlock(${MIGRATION_LOCK})`.catch(() => {});
    connection.release();
  }
  return applied;
}
