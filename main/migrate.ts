import { systemClock } from '../platform/clock.ts';
import { publicUrlOf, readConfig } from '../platform/config.ts';
import { createIds } from '../platform/ids.ts';
import { createLogger } from '../platform/log.ts';
import { connectPostgres } from '../postgres/client.ts';
import { bootstrapTenant } from './bootstrap.ts';
import { firstLogin } from './first-login.ts';
import { migrateStores } from './migrate-stores.ts';

/** Prepares the stores of the distributed profile before its roles start, and creates the first tenant. */
const config = readConfig(process.env);
if (config.POSTGRES_URL === undefined || config.CLICKHOUSE_URL === undefined)
  throw new Error(
    'migrate needs POSTGRES_URL and CLICKHOUSE_URL; `npm start` migrates its own engines.',
  );
const log = createLogger(config.LOG_LEVEL, 'migrate');
const pool = connectPostgres({
  url: config.POSTGRES_URL,
  applicationName: 'migrate',
  maxConnections: 2,
});
await migrateStores(pool, config.CLICKHOUSE_URL, log);
const { apiKey, firstPerson } = await bootstrapTenant(pool, createIds(systemClock), {
  dataDirectory: null,
  apiKey: config.BOOTSTRAP_API_KEY,
  email: config.BOOTSTRAP_EMAIL,
  nowMs: systemClock.now(),
});
if (firstPerson !== null) {
  process.stdout.write(`API key of the development environment, shown once: ${apiKey}\n\n`);
  process.stdout.write(firstLogin(publicUrlOf(config), firstPerson));
}
await pool.end({ timeout: 5 });
