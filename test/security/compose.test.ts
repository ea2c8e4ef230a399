import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** docker-compose.yml opens no port to a network and contains no known password. */
describe('docker-compose.yml', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const file = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const services = new Map(
    file
      .slice(file.indexOf('\nservices:'), file.indexOf('\nnetworks:'))
      .split(/\n(?= {2}[a-z]+:\n)/)
      .slice(1)
      .map((text) => [text.trim().split(':')[0]!, text]),
  );
  const role = file.slice(file.indexOf('x-role:'), file.indexOf('\nservices:'));

  test('has the services that this test looks at', () => {
    const names = [...services.keys()];
    expect(names).toEqual([
      'kafka', 'clickhouse', 'postgres', 'redis', 'migrate', 'ingest', 'stream', 'api', 'jobs',
    ]); // prettier-ignore
  });

  test('every port is published on this machine only', () => {
    const published = [...file.matchAll(/ports: \[(.*)\]/g)].map((match) => match[1]);
    expect(published).toEqual(["'127.0.0.1:8081:8080'", "'127.0.0.1:8080:8080'"]);
  });

  test('no password has a default, and scripts/compose-env.js makes each', () => {
    const secrets = [...file.matchAll(/\$\{(\w*(?:PASSWORD|KEY))(.*?)\}/g)];
    expect(secrets.length).toBeGreaterThan(5);
    expect(secrets.filter((match) => !match[2]!.startsWith(':?'))).toEqual([]);
    expect(file).not.toMatch(/:\/\/\w+:[^$@\s]+@/);

    const directory = mkdtempSync(join(tmpdir(), 'meterline-compose-'));
    const run = () =>
      execFileSync('node', [join(root, 'scripts/compose-env.js')], { cwd: directory });
    run();
    const env = join(directory, '.env');
    const written = readFileSync(env, 'utf8');
    for (const [, name] of secrets) expect(written).toMatch(new RegExp(`^${name}=.{24,}$`, 'm'));
    expect(statSync(env).mode & 0o777).toBe(0o600);
    run();
    expect(readFileSync(env, 'utf8')).toBe(written);
    rmSync(directory, { recursive: true });
  });

  test('roles log in as no superuser and no owner, but for the migration', () => {
    expect(role).toContain('POSTGRES_URL: postgres://meterline_work:');
    expect(role).toContain('API_POSTGRES_URL: postgres://meterline_api:');
    const others = [...services].filter(([, text]) => text.includes('POSTGRES_URL:'));
    expect(others.map(([name]) => name)).toEqual(['migrate']);
    expect(services.get('migrate')).toContain('postgres://meterline_owner:');
    const script = readFileSync(join(root, 'scripts/compose/postgres-logins.sh'), 'utf8');
    const logins = script.replace(/^#.*$/gm, '');
    expect(logins).not.toMatch(/superuser|createrole|createdb|bypassrls/);
  });

  test('roles run without rights on a file system that they cannot change; engines have no way out', () => {
    for (const line of ['read_only: true', 'cap_drop: [ALL]', "'no-new-privileges:true'"])
      expect(role).toContain(line);
    for (const name of ['kafka', 'clickhouse', 'postgres', 'redis']) {
      expect(services.get(name)).toContain('networks: [engines]');
      expect(services.get(name)).not.toContain('ports:');
    }
    expect(file).toContain('engines: { internal: true }');
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).toMatch(/^USER node$/m);
  });
});
