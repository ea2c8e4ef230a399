import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  startEmbeddedClickHouse,
  type EmbeddedClickHouse,
} from '../../clickhouse/embedded/server.ts';

/**
 * The embedded ClickHouse listens on this machine for everybody who has an account on it: without the
 * password nothing is answered, the password is nowhere that others can read, and with it a statement
 * reaches the product's tables and nothing outside of them.
 */
describe('the embedded ClickHouse', () => {
  let directory: string;
  let server: EmbeddedClickHouse;
  let secret: string;
  let password: string;
  beforeAll(async () => {
    const loader = fileURLToPath(new URL('../../scripts/typescript.js', import.meta.url));
    directory = mkdtempSync(join(tmpdir(), 'meterline-engine-'));
    secret = join(directory, 'secret.txt');
    writeFileSync(secret, 'canary-of-a-file');
    server = await startEmbeddedClickHouse({
      directory: join(directory, 'clickhouse'),
      execArgv: ['--import', loader],
    });
    password = new URL(server.url).password;
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const ask = async (sql: string, headers: Record<string, string> = {}, query = '') => {
    const { host } = new URL(server.url);
    const response = await fetch(`http://${host}/${query}`, { method: 'POST', body: sql, headers });
    return { status: response.status, text: await response.text() };
  };
  const known = () => ({ 'x-clickhouse-key': password });

  test('its password is in no arguments and no environment, and in a file of its own user', () => {
    expect(password.length).toBeGreaterThanOrEqual(48);
    const seen = execFileSync('ps', ['-o', 'args=', '-p', String(server.pid)]).toString();
    expect(seen).toContain('embedded/process');
    expect(seen).not.toContain(password);
    if (process.platform === 'linux') {
      expect(readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain(password);
      expect(readFileSync(`/proc/${server.pid}/environ`, 'utf8')).not.toContain(password);
    }
    const modeOf = (name: string) => statSync(join(directory, 'clickhouse', name)).mode & 0o777;
    expect(modeOf('password')).toBe(0o600);
    expect(modeOf('.')).toBe(0o700);
  });

  test('nothing is answered without the password but that it lives', async () => {
    const wrong: Record<string, string>[] = [
      {},
      { 'x-clickhouse-key': '' },
      { 'x-clickhouse-key': `${password}x` },
      { 'x-clickhouse-user': 'default' },
      { authorization: `Basic ${Buffer.from('default:').toString('base64')}` },
      { authorization: 'Bearer x' },
    ];
    for (const headers of wrong) {
      const { status, text } = await ask('select 1', headers);
      expect([status, text.includes('AUTHENTICATION_FAILED')]).toEqual([403, true]);
    }
    expect((await ask('select 1', {}, `?password=${password}`)).status).toBe(403);
    const { host } = new URL(server.url);
    const ping = await fetch(`http://${host}/ping`);
    expect([ping.status, await ping.text()]).toEqual([200, 'Ok.\n']);
    expect((await fetch(`http://${host}/`)).status).toBe(403);
  });

  test('it listens on the loopback interface only', async () => {
    const { port } = new URL(server.url);
    const others = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ internal, family }) => !internal && family === 'IPv4');
    for (const { address } of others)
      await expect(fetch(`http://${address}:${port}/ping`)).rejects.toThrow();
  });

  test('with the password tables of the product are read and written', async () => {
    expect(await ask('select sum(number) from numbers(10)', known())).toEqual({
      status: 200,
      text: '45\n',
    });
    const made = await ask('create table kept (a String) engine = MergeTree order by a', known());
    expect(made.status).toBe(200);
    expect((await ask("insert into kept values ('file(''/etc/passwd'')')", known())).status).toBe(
      200,
    );
    const read = await ask("select a /* url('x') */ from kept -- remote('y')", known());
    expect(read).toEqual({ status: 200, text: expect.stringContaining('file(') });
    expect((await ask('select count() from system.parts', known())).status).toBe(200);
    expect((await ask('system stop merges kept', known())).status).toBe(200);
  });

  const outside = (): string[] => {
    const path = secret;
    return [
      `select * from file('${path}', 'LineAsString')`,
      `select * from FILE('${path}', LineAsString)`,
      `select file('${path}')`,
      `select * from file ('${path}', 'LineAsString')`,
      `select * from file/**/('${path}', 'LineAsString')`,
      `select * from file -- x\n('${path}', 'LineAsString')`,
      `select * from file # x\n('${path}', 'LineAsString')`,
      `select * from \`file\`('${path}', 'LineAsString')`,
      `select * from "file"('${path}', 'LineAsString')`,
      `select * from \`fi\\x6ce\`('${path}', 'LineAsString')`,
      `select * from \`fi\\le\`('${path}', 'LineAsString')`,
      `select $$'$$, * from file('${path}', 'LineAsString')`,
      `select $a$'$a$, * from file('${path}', 'LineAsString')`,
      `select ‘'’, * from file('${path}', 'LineAsString')`,
      `select '\\'', * from file('${path}', 'LineAsString')`,
      `select '''', * from file('${path}', 'LineAsString')`,
      `select 1 as "a'b", * from file('${path}', 'LineAsString')`,
      `with (select * from file('${path}', 'LineAsString')) as x select x`,
      `select 1 union all select length(line) from file('${path}', 'LineAsString')`,
      `describe table file('${path}')`,
      `explain select * from file('${path}', 'LineAsString')`,
      `select * from fileCluster('default', '${path}', 'LineAsString')`,
      `insert into function file('${path}', 'TSV', 'a String') values ('x')`,
      `insert into table function file('${path}', 'TSV', 'a String') select 'x'`,
      `select 1 into outfile '${path}'`,
      `select 1 INTO OUTFILE '${path}' truncate`,
      `insert into kept from infile '${path}' format LineAsString`,
      `create table f (a String) engine = File(TSV, '${path}')`,
      `create table f (a String) engine = File`,
      `create table f (a String) engine=\`File\`(TSV)`,
      `create table f (a String) engine = URL('http://127.0.0.1:1/', TSV)`,
      `create database d engine = Filesystem('/')`,
      `create database d engine = SQLite('${path}')`,
      `create table f (a String) engine = MergeTree order by a settings disk = disk(type = local, path = '/tmp/x/')`,
      `select * from url('http://127.0.0.1:1/', 'LineAsString')`,
      `select * from urlCluster('default', 'http://127.0.0.1:1/', 'LineAsString')`,
      `select * from s3('http://127.0.0.1:1/b/k', 'LineAsString')`,
      `select * from s3Cluster('default', 'http://127.0.0.1:1/b/k')`,
      `select * from gcs('http://127.0.0.1:1/b/k')`,
      `select * from azureBlobStorage('x', 'y', 'z')`,
      `select * from hdfs('hdfs://127.0.0.1:1/x', 'TSV')`,
      `select * from iceberg('http://127.0.0.1:1/b')`,
      `select * from deltaLake('http://127.0.0.1:1/b')`,
      `select * from remote('127.0.0.1:1', system, one)`,
      `select * from remoteSecure('127.0.0.1:1', system, one)`,
      `select * from cluster('default', system, one)`,
      `select * from clusterAllReplicas('default', system, one)`,
      `select * from mysql('127.0.0.1:1', 'd', 't', 'u', 'p')`,
      `select * from postgresql('127.0.0.1:1', 'd', 't', 'u', 'p')`,
      `select * from mongodb('127.0.0.1:1', 'd', 't', 'u', 'p', 'a String')`,
      `select * from redis('127.0.0.1:1', 'k', 'k String')`,
      `select * from sqlite('${path}', 't')`,
      `select * from odbc('DSN=x', 't')`,
      `select * from jdbc('x', 't')`,
      `select * from executable('cat', TSV, 'a String', (select 1))`,
      `select * from executable('/bin/id', 'TSV', 'a String')`,
      `select * from input('a String')`,
      `select * from dictionary('x')`,
      `select 1; select * from file('${path}', 'LineAsString')`,
      `create function f as (x) -> x`,
      `create dictionary d (k UInt64) primary key k source(file(path '${path}' format 'TSV')) layout(flat()) lifetime(0)`,
      `create user u identified by 'x'`,
      `create named collection c as a = 1`,
      `grant all on *.* to u`,
      `backup table kept to File('${path}')`,
      `restore table kept from File('${path}')`,
      `attach table g from '${path}' (a String) engine = MergeTree order by a`,
      `system shutdown`,
      `system kill`,
      `system reload config`,
      `kill query where 1`,
    ];
  };

  test('and nothing outside of them: files, hosts, processes, other servers', async () => {
    const reached: string[] = [];
    for (const sql of outside()) {
      const { status, text } = await ask(sql, known());
      if (status === 501 && text.includes('is not served by the embedded server')) continue;
      reached.push(`${status} ${sql}: ${text.slice(0, 100)}`);
    }
    expect(reached).toEqual([]);
    expect(outside().length).toBeGreaterThan(60);
    expect(readFileSync(secret, 'utf8')).toBe('canary-of-a-file');
  });

  test('as a GET, in the URL, or half in the URL and half in the body, it is the same', async () => {
    const { host } = new URL(server.url);
    const sql = `select * from file('${secret}', 'LineAsString')`;
    const get = await fetch(`http://${host}/?query=${encodeURIComponent(sql)}`, {
      headers: known(),
    });
    expect(get.status).toBe(501);
    const halves = await ask(
      `('${secret}', 'LineAsString')`,
      known(),
      '?query=select%20*%20from%20file',
    );
    expect(halves.status).toBe(501);
    const raw = await ask('x', known(), '?query=insert%20into%20function%20file%20format%20TSV');
    expect(raw.status).toBeGreaterThanOrEqual(400);
  });
});
