import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyBuiltTree, runIn, type Command } from '../support/built-tree.ts';
import { describeAsRoot } from '../support/requires.ts';

/** What a newcomer meets: `npm start` in a fresh clone, in any directory, and the obstacles that it reports. */
let home: string;
let clone: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'meterline-home-'));
  clone = join(home, 'src', 'meterline');
  copyBuiltTree(clone);
});
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 20 }));

interface RunningInstance {
  readonly command: Command;
  readonly baseUrl: string;
  readonly apiKey: string;
}
const start = async (settings: Readonly<Record<string, string>> = {}): Promise<RunningInstance> => {
  const command = runIn(clone, ['npm', 'start'], { PORT: '0', ...settings });
  const text = await command.untilPrinted('Ctrl-C stops everything.');
  const [, baseUrl, apiKey] = /API and ingest +(\S+)\/v1[^]*API key +(\S+)/.exec(text)!;
  return { command, baseUrl: baseUrl!, apiKey: apiKey! };
};
const supervisorOf = (dataDirectory: string): number => {
  const text = readFileSync(join(dataDirectory, 'instance.json'), 'utf8');
  return (JSON.parse(text) as { process: { pid: number } }).process.pid;
};
/** The lines that the README's commands from a plan to a paid invoice print. */
const pasteReadme = ({ baseUrl, apiKey }: RunningInstance): string[] => {
  const blocks = readFileSync('README.md', 'utf8').match(/(?<=```sh\n)[^`]*(?=```)/g)!;
  const script = blocks
    .filter((block) => /^(KEY|PLAN)=/.test(block))
    .join('')
    .replace('sk_test_…', apiKey)
    .replace('http://127.0.0.1:8080', baseUrl);
  return execFileSync('bash', ['-euc', script], { encoding: 'utf8' }).trim().split('\n');
};
/** As Ctrl-C does. */
const stop = async ({ command }: RunningInstance, dataDirectory: string): Promise<void> => {
  process.kill(supervisorOf(dataDirectory), 'SIGINT');
  expect(await command.ended).toBe(0);
};
/** One sentence on the last line, without a stack, and an exit code that is not 0. */
const refusal = async (command: Command): Promise<string> => {
  expect(await command.ended).toBe(1);
  const text = command.output();
  expect(text).not.toMatch(/^\s+at /m);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('> '));
  expect(lines).toHaveLength(1);
  return lines[0]!;
};

describeAsRoot('npm start by root below a directory that only root may enter', () => {
  beforeAll(() => {
    for (const path of [home, join(home, 'src')]) execFileSync('chmod', ['700', path]);
  });

  test('it starts, counts an event, stops, and starts again with the data', async () => {
    const dataDirectory = join(clone, '.data');
    const first = await start();
    const headers = { 'x-api-key': first.apiKey, 'content-type': 'application/json' };
    const sent = await fetch(`${first.baseUrl}/v1/events`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        event_id: 'first-event',
        event_name: 'api.call',
        external_customer_id: 'acme',
        timestamp: new Date().toISOString(),
        properties: {},
      }),
    });
    expect(sent.status).toBe(202);

    expect(pasteReadme(first)).toEqual(['$40.00', 'Acme Inc', 'SUCCEEDED']);

    const second = await refusal(runIn(clone, ['npm', 'start'], { PORT: '0' }));
    expect(second).toBe(
      `Meterline did not start: another Meterline (process ${supervisorOf(dataDirectory)}) already runs on ${dataDirectory} at ${first.baseUrl}; stop it first, or set DATA_DIR and PORT to run a second one.`,
    );
    const maintain = runIn(clone, ['npm', 'run', '--silent', 'maintain', '--', 'audit', 'verify']);
    expect(await maintain.ended).toBe(0);
    expect(maintain.output()).toContain('audit verify tenants=1');
    const doctor = runIn(clone, ['npm', 'run', '--silent', 'maintain', '--', 'doctor']);
    await doctor.ended;
    for (const name of ['role serve', 'role stream', 'role jobs', 'log lag', 'ClickHouse parts'])
      expect(doctor.output()).toMatch(new RegExp(`^  ok   ${name} `, 'm'));
    await stop(first, dataDirectory);

    const again = await start();
    expect(again.apiKey).toBe(first.apiKey);
    const found = await fetch(`${again.baseUrl}/v1/events/first-event`, { headers });
    expect(found.status).toBe(200);
    await stop(again, dataDirectory);
    expect(existsSync(join(dataDirectory, 'instance.json'))).toBe(false);
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });
});

describe('an obstacle to npm start is reported in one sentence that says what to do', () => {
  test('an occupied port', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const settings = { PORT: String(port), DATA_DIR: join(home, 'unused') };
    const sentence = await refusal(runIn(clone, ['npm', 'start'], settings));
    expect(sentence).toBe(
      `Meterline did not start: port ${port} of 127.0.0.1 is in use by another process (${process.pid}, node); stop that process, or set PORT to a free port.`,
    );
    server.close();
    await once(server, 'close');
  });

  test('an address that this machine does not have', async () => {
    const settings = { HOST: '192.0.2.1', DATA_DIR: join(home, 'unused') };
    const sentence = await refusal(runIn(clone, ['npm', 'start'], settings));
    expect(sentence).toBe(
      'Meterline did not start: 192.0.2.1 is not an address of this machine; set HOST to one, for example 127.0.0.1.',
    );
  });

  test('an old Node', async () => {
    const old = join(home, 'old-node.cjs');
    execFileSync('sh', [
      '-c',
      `echo "Object.defineProperty(process.versions, 'node', { value: '18.20.4' })" > ${old}`,
    ]);
    const command = runIn(clone, ['node', '--require', old, 'scripts/require-node.cjs']);
    expect(await refusal(command)).toBe(
      'Meterline needs Node 20.19 or later, and this is Node 18.20.4: install a newer one from https://nodejs.org and run the command again.',
    );
    const scripts = (
      JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>;
      }
    ).scripts;
    for (const name of ['prepare', 'start', 'demo', 'maintain'])
      expect(scripts[name]).toMatch(/^node scripts\/require-node\.cjs && /);
  });

  test('a data directory below a file', async () => {
    const settings = { PORT: '0', DATA_DIR: join(clone, 'package.json', 'data') };
    const sentence = await refusal(runIn(clone, ['npm', 'start'], settings));
    expect(sentence).toBe(
      `Meterline did not start: DATA_DIR ${settings.DATA_DIR} cannot be created (ENOTDIR); set DATA_DIR to a directory that this user may write.`,
    );
  });
});

describe('the machine went down while the engines ran', () => {
  test('the next start dies after it has requested the replay: the start after that requests it again', async () => {
    const dataDirectory = join(home, 'went-down');
    const mark = join(dataDirectory, 'running');
    const settings = { DATA_DIR: dataDirectory };
    const first = await start(settings);
    const headers = { 'x-api-key': first.apiKey, 'content-type': 'application/json' };
    const body = JSON.stringify({
      event_id: 'before',
      event_name: 'api.call',
      external_customer_id: 'acme',
      timestamp: new Date().toISOString(),
      properties: {},
    });
    await fetch(`${first.baseUrl}/v1/events`, { method: 'POST', headers, body });
    const isFound = async ({ baseUrl }: RunningInstance): Promise<void> => {
      for (;;) {
        const { status } = await fetch(`${baseUrl}/v1/events/before`, { headers });
        if (status === 200) return;
        await setTimeout(200);
      }
    };
    await isFound(first);
    await stop(first, dataDirectory);
    // As after a power loss: a mark of an earlier boot.
    writeFileSync(mark, 'an earlier boot');

    const failpoints = { PORT: '0', FAILPOINTS: 'start.after_replay_request', ...settings };
    const killed = runIn(clone, ['node', 'dist/main/all.js'], failpoints);
    await killed.ended;
    expect(killed.child.signalCode).toBe('SIGKILL');
    expect(readFileSync(mark, 'utf8')).toBe('an earlier boot');

    const again = await start(settings);
    expect(again.command.output()).toContain('the last day is replayed');
    expect(readFileSync(mark, 'utf8')).not.toBe('an earlier boot');
    await isFound(again);
    await stop(again, dataDirectory);
  });
});

describeAsRoot('no permission to write', () => {
  const NOBODY = { uid: 65_534, gid: 65_534 };
  beforeAll(() => {
    for (const path of [home, join(home, 'src')]) execFileSync('chmod', ['755', path]);
  });

  test('the data directory belongs to another user', async () => {
    const dataDirectory = join(home, 'of-root');
    mkdirSync(dataDirectory, { mode: 0o755 });
    const settings = { PORT: '0', DATA_DIR: dataDirectory };
    const command = runIn(clone, ['node', 'dist/main/all.js'], settings, NOBODY);
    expect(await refusal(command)).toBe(
      `Meterline did not start: DATA_DIR ${dataDirectory} cannot be written by this user (EACCES); give this user the permission, or set DATA_DIR to a directory that it may write.`,
    );
  });

  test('the checkout belongs to another user, and is not built', async () => {
    execFileSync('touch', [join(clone, 'package.json')]);
    try {
      const command = runIn(clone, ['node', 'scripts/build.js'], {}, NOBODY);
      expect(await refusal(command)).toBe(
        `Meterline was not built: ${join(clone, 'dist')} cannot be written by this user (EACCES); give this user the permission, or build as the user that owns the checkout.`,
      );
    } finally {
      execFileSync('touch', [join(clone, 'dist/.built')]);
    }
  });
});

describeAsRoot('a full disk', () => {
  const disk = (): string => join(home, 'disk');
  beforeAll(() => {
    mkdirSync(disk());
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=768m', 'tmpfs', disk()]);
  });
  afterAll(() => execFileSync('umount', ['--lazy', disk()]));

  test('it is refused before anything is written, and the data is as it was', async () => {
    const dataDirectory = join(disk(), 'data');
    const first = await start({ DATA_DIR: dataDirectory });
    await stop(first, dataDirectory);

    execFileSync('sh', ['-c', `cat /dev/zero > ${disk()}/filler 2> /dev/null || true`]);
    const sentence = await refusal(runIn(clone, ['npm', 'start'], { DATA_DIR: dataDirectory }));
    expect(sentence).toBe(
      `Meterline did not start: the disk of DATA_DIR ${dataDirectory} has 0 MB free and 200 MB are needed; free some space, or set DATA_DIR to a directory on another disk.`,
    );

    rmSync(join(disk(), 'filler'));
    const again = await start({ DATA_DIR: dataDirectory });
    expect(again.apiKey).toBe(first.apiKey);
    await stop(again, dataDirectory);
  });
});
