import { connectClickHouse } from '../clickhouse/client.ts';
import { migrateClickHouse } from '../clickhouse/migrate.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import { migratePostgres } from '../postgres/migrate.ts';

/** Migrates both stores to the schema of this release. Safe to run by several processes at once. */
export async function migrateStores(pool: Pool, clickhouseUrl: string, log: Logger): Promise<void> {
  const applied = await migratePostgres(pool);
  if (applied.length > 0) log.info({ applied }, 'postgres migrated');
  const clickhouse = connectClickHouse({ url: clickhouseUrl, applicationName: 'migrate' });
  try {
    await migrateClickHouse(clickhouse);
  } finally {
    await clickhouse.close();
  }
}
