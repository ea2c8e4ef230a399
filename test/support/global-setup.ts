import { join } from 'node:path';
import postgres from 'postgres';
import { startEmbeddedClickHouse } from '../../clickhouse/embedded/server.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { migratePostgres } from '../../postgres/migrate.ts';
import { createEngineDirectory } from './engine-directory.ts';
import { WAIT_MS } from './patience.ts';

export const TEMPLATE_DATABASE = 'meterline_template';

/** Node flags with which a child process of a test runs from sources. */
export const SOURCE_EXEC_ARGV: readonly string[] = [
  '--import',
  new URL('../../scripts/typescript.js', import.meta.url).href,
];

/**
 * One Postgres and one ClickHouse server for the run. Test files clone the migrated template of the
 * one, and create databases in the other. The two start side by side.
 */
export default async function globalSetup(): Promise<void> {
  const directory = createEngineDirectory();
  const clickhouse = startEmbeddedClickHouse({
    directory: join(directory, 'clickhouse'),
    execArgv: SOURCE_EXEC_ARGV,
  });
  clickhouse.catch(() => {}); // awaited below; Postgres may fail first
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      file_copy_method: 'clone', // the kernel copies, or shares the blocks where the file system can
      max_connections: '300',
      // A test sends a statement a few times over a new connection, and planned it each time: a third of the CPU time
      // of Postgres in a run.
      plan_cache_mode: 'force_generic_plan',
    },
  });
  const admin = postgres(server.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  const template = connectPostgres({
    url: databaseUrl(patiently(server.url), TEMPLATE_DATABASE),
    applicationName: 'test-template',
    maxConnections: 1,
  });
  await migratePostgres(template);
  await template.end();

  process.env['TEST_POSTGRES_URL'] = patiently(server.url);
  process.env['TEST_API_POSTGRES_URL'] = patiently(server.apiUrl);
  process.env['TEST_CLICKHOUSE_URL'] = (await clickhouse).url;
  process.env['TEST_DIRECTORY'] = directory;
  (globalThis as { stopTestServers?: () => Promise<void> }).stopTestServers = async () => {
    await Promise.all([server.stop(), clickhouse.then((running) => running.stop())]);
  };
}

/** A paused machine must not look like an unreachable server. */
export function patiently(postgresUrl: string): string {
  const url = new URL(postgresUrl);
  url.searchParams.set('connect_timeout', String(WAIT_MS / 1000));
  return url.toString();
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.toString();
}
