import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { connectPostgres } from '../../postgres/client.ts';
import { startEmbeddedPostgres } from '../../postgres/embedded.ts';
import { migratePostgres } from '../../postgres/migrate.ts';

export const TEMPLATE_DATABASE = 'meterline_template';

/** One Postgres server for the run, with one migrated template that every test file clones. */
export default async function globalSetup(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'meterline-test-'));
  const server = await startEmbeddedPostgres({
    directory: join(directory, 'postgres'),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '300',
    },
  });
  const admin = postgres(server.url, { max: 1, onnotice: () => {} });
  await admin.unsafe(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  const template = connectPostgres({
    url: databaseUrl(server.url, TEMPLATE_DATABASE),
    applicationName: 'test-template',
    maxConnections: 1,
  });
  await migratePostgres(template);
  await template.end();

  process.env['TEST_POSTGRES_URL'] = server.url;
  process.env['TEST_DIRECTORY'] = directory;
  (globalThis as { stopTestServers?: () => Promise<void> }).stopTestServers = async () => {
    await server.stop();
  };
}

export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.toString();
}
