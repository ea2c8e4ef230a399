import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';

/**
 * Writes `.env` with passwords of its own for `docker compose up`, readable by this user only. A file that
 * is there is left alone: the volumes were made with its passwords.
 */
const password = () => randomBytes(24).toString('hex');
const lines = [
  `POSTGRES_PASSWORD=${password()}`,
  `POSTGRES_OWNER_PASSWORD=${password()}`,
  `POSTGRES_WORK_PASSWORD=${password()}`,
  `POSTGRES_API_PASSWORD=${password()}`,
  `CLICKHOUSE_PASSWORD=${password()}`,
  `ENCRYPTION_KEY=compose:${randomBytes(32).toString('base64')}`,
  `METRICS_TOKEN=${password()}`,
];
try {
  writeFileSync('.env', `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  process.stdout.write('Passwords are in .env. Keep it: the data is opened with them.\n');
} catch (error) {
  if (error.code !== 'EEXIST') throw error;
  process.stdout.write('.env is there already and stays as it is.\n');
}
