import { randomBytes } from 'node:crypto';
import { connectClickHouse, type ClickHouse } from '../../clickhouse/client.ts';
import { migrateClickHouse } from '../../clickhouse/migrate.ts';
import { PATIENCE } from './patience.ts';

export interface TestClickHouse {
  readonly clickhouse: ClickHouse;
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * A fresh ClickHouse database with all tables (some 200 ms), on the run's embedded server by default. Drop
 * it in `afterAll`.
 */
export async function createTestClickHouse(
  serverUrl = process.env['TEST_CLICKHOUSE_URL'],
): Promise<TestClickHouse> {
  if (serverUrl === undefined) throw new Error('TEST_CLICKHOUSE_URL is unset: run under jest');
  const { clickhouse, url, drop } = await createEmptyClickHouse(serverUrl);
  await migrateClickHouse(clickhouse);
  return { clickhouse, url, drop };
}

/** As above without tables. */
export async function createEmptyClickHouse(serverUrl: string): Promise<TestClickHouse> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const admin = connectClickHouse({
    url: serverUrl,
    applicationName: 'test-admin',
    patience: PATIENCE,
  });
  await admin.command({ sql: `create database ${name}`, params: {} });
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const url = address.toString();
  const clickhouse = connectClickHouse({ url, applicationName: 'test', patience: PATIENCE });
  return {
    clickhouse,
    url,
    async drop() {
      await clickhouse.close();
      await admin.command({ sql: `drop database if exists ${name} sync`, params: {} });
      await admin.close();
    },
  };
}
