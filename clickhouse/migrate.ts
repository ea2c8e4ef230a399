import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import type { ClickHouse, ReadOptions } from './client.ts';
import { SERVICE } from './query-limits.ts';

// Next to this file in the sources; the build copies the folder next to the compiled file.
const MIGRATIONS = new URL('./migrations/', import.meta.url);
/** A statement that fills a table reads all events: some minutes for a hundred million. */
const FILLING: ReadOptions = { limits: { ...SERVICE, seconds: 14_400 }, timeoutMs: 14_400_000 };

/**
 * Applies the pending migrations in order and returns their names. Every statement of a migration may run
 * twice, so processes that start together and a crash half way do no harm. A migration that was edited after
 * it ran is refused.
 */
export async function migrateClickHouse(clickhouse: ClickHouse): Promise<string[]> {
  const files = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  await clickhouse.command({
    sql: `create table if not exists schema_migrations (name String, checksum String)
          engine = ReplacingMergeTree order by name`,
    params: {},
  });
  const done = new Map(
    await clickhouse.rows<[string, string]>({
      sql: 'select name, checksum from schema_migrations final',
      params: {},
    }),
  );
  const applied: string[] = [];
  for (const name of files) {
    const text = await readFile(new URL(name, MIGRATIONS), 'utf8');
    const checksum = createHash('sha256').update(text).digest('hex');
    const known = done.get(name);
    if (known !== undefined) {
      if (known !== checksum)
        throw new Error(`ClickHouse migration ${name} was changed after it had been applied.`);
      continue;
    }
    for (const sql of statementsOf(text)) await clickhouse.command({ sql, params: {} }, FILLING);
    await clickhouse.insert(
      'schema_migrations',
      ['name', 'checksum'],
      JSON.stringify([name, checksum]),
    );
    applied.push(name);
  }
  return applied;
}

/** A statement ends with a semicolon at the end of a line; comments are on lines of their own. */
function statementsOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
