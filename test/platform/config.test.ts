import { readFileSync } from 'node:fs';
import { CONFIG_KEYS, readConfig, signUpOf } from '../../platform/config.ts';

describe('configuration', () => {
  test('an empty environment is the embedded profile', () => {
    const config = readConfig({});
    expect(config).toMatchObject({ PORT: 8080, HOST: '127.0.0.1', DATA_DIR: '.data' });
    expect(config.KAFKA_BROKERS).toBeUndefined();
  });

  test('an empty value is the same as none', () => {
    expect(readConfig({ KAFKA_BROKERS: '', PORT: '' }).PORT).toBe(8080);
  });

  test('a list is split and trimmed', () => {
    expect(readConfig({ KAFKA_BROKERS: 'a:1, b:2' }).KAFKA_BROKERS).toEqual(['a:1', 'b:2']);
  });

  test.each([
    ['PORT', '70000'],
    ['PORT', 'http'],
    ['POSTGRES_URL', 'mysql://x'],
    ['CLICKHOUSE_URL', 'localhost:8123'],
    ['LOG_LEVEL', 'loud'],
    ['BOOTSTRAP_API_KEY', 'short'],
    ['STREAM_BATCH_EVENTS', '0'],
    ['SIGN_UP', 'closed'],
    ['TENANT_LIMITS_MAX', 'users=5'],
    ['TENANT_LIMITS_MAX', 'production=-1'],
    ['TENANT_LIMITS_MAX', '__proto__=1'],
  ])('%s=%s is refused by name', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(name));
  });

  test('every bad value is named at once', () => {
    expect(() => readConfig({ PORT: 'x', LOG_LEVEL: 'y' })).toThrow(
      /PORT[\s\S]*LOG_LEVEL|LOG_LEVEL[\s\S]*PORT/,
    );
  });

  test.each([
    [{}, 'open'],
    [{ HOST: '::1' }, 'open'],
    [{ HOST: '0.0.0.0' }, 'invited'],
    [{ PUBLIC_URL: 'https://billing.example.com' }, 'invited'],
    [{ PUBLIC_URL: 'http://localhost:8080' }, 'open'],
    [{ HOST: '0.0.0.0', SIGN_UP: 'open' }, 'open'],
    [{ SIGN_UP: 'invited' }, 'invited'],
  ])('sign-up with %j: %s', (env, expected) => {
    expect(signUpOf(readConfig(env))).toBe(expected);
  });

  test('caps of tenants: those that are named, over those that are not', () => {
    expect(
      readConfig({ TENANT_LIMITS_MAX: 'production=1, max_users=5' }).TENANT_LIMITS_MAX,
    ).toEqual({ production: 1, development: 20, max_users: 5 });
  });

  test('docs/configuration.md lists every setting and no other', () => {
    const documented =
      readFileSync('docs/configuration.md', 'utf8').match(/^\| `[A-Z_`, ]+`/gm) ?? [];
    const names = documented.flatMap((cell) => cell.match(/[A-Z][A-Z_]+/g) ?? []);
    expect(names.sort()).toEqual([...CONFIG_KEYS].sort());
  });
});
