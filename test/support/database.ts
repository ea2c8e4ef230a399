import { randomBytes } from 'node:crypto';
import { connectPostgres, type Pool } from '../../postgres/client.ts';
import { checkLedger } from './ledger.ts';
import { checkNotifications } from './notifications.ts';
import { databaseUrl, TEMPLATE_DATABASE } from './global-setup.ts';

export interface TestDatabase {
  readonly pool: Pool;
  readonly url: string;
  /** The same database for the login that is the API's role. */
  readonly apiUrl: string;
  /** Throws, after the drop, if a notification in it has not the form of its type, or if its money does not add up. */
  drop(): Promise<void>;
}

/** A fresh database with the whole schema, copied from the template. Drop it in `afterAll`. */
export async function createTestDatabase(maxConnections = 10): Promise<TestDatabase> {
  const serverUrl = process.env['TEST_POSTGRES_URL'];
  if (serverUrl === undefined) throw new Error('TEST_POSTGRES_URL is unset: run under jest');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = connectPostgres({
    url: serverUrl,
    applicationName: 'test-admin',
    maxConnections: 1,
  });
  // Copies files; the default strategy writes every page of the template to the log: ten times the work.
  await admin.unsafe(`create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`);
  const url = databaseUrl(serverUrl, name);
  const pool = connectPostgres({ url, applicationName: 'test', maxConnections });
  return {
    pool,
    url,
    apiUrl: databaseUrl(process.env['TEST_API_POSTGRES_URL']!, name),
    async drop() {
      const fault = await checkNotifications(pool)
        .then(() => checkLedger(pool))
        .catch((error: unknown) => error);
      await pool.end({ timeout: 1 });
      await admin.unsafe(`drop database if exists ${name} with (force)`);
      await admin.end();
      if (fault !== undefined) throw fault;
    },
  };
}
