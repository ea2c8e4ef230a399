import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const module = new URL('../../scripts/build-lock.js', import.meta.url).href;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'meterline-lock-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A process that takes the lock, writes `in` and, a moment later, `out`, and gives the lock back. */
function builder() {
  const [lock, log] = [join(directory, 'lock'), join(directory, 'log')].map((path) =>
    JSON.stringify(path),
  );
  const code = `
    import { appendFileSync } from 'node:fs';
    import { takeLock } from ${JSON.stringify(module)};
    const release = takeLock(${lock});
    appendFileSync(${log}, 'in ');
    setTimeout(() => { appendFileSync(${log}, 'out '); release(); }, 300);`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'inherit' });
}

const log = () => readFileSync(join(directory, 'log'), 'utf8').trim();

test('builds of one tree run one after another', async () => {
  const exits = await Promise.all(
    [builder(), builder(), builder()].map((child) => once(child, 'exit')),
  );
  expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
  expect(log()).toBe('in out in out in out');
  expect(existsSync(join(directory, 'lock'))).toBe(false);
});

test('the lock of a process that is gone is taken over', async () => {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  writeFileSync(join(directory, 'lock'), String(pid));
  const [code] = await once(builder(), 'exit');
  expect(code).toBe(0);
  expect(log()).toBe('in out');
});

test('the lock of a process that ended before it wrote its number is taken over', async () => {
  writeFileSync(join(directory, 'lock'), '');
  utimesSync(join(directory, 'lock'), new Date(0), new Date(0));
  const [code] = await once(builder(), 'exit');
  expect(code).toBe(0);
});

test.each([
  ['of this process itself, from before a restart', process.pid, 0, true],
  ['ten minutes old, of a process that lives', process.ppid, 11 * 60_000, false],
])('a lock %s is taken over', async (_, pid, ageMs, isOwn) => {
  const lock = join(directory, 'lock');
  const written = new Date(Date.now() - ageMs);
  const code = `
    import { utimesSync, writeFileSync } from 'node:fs';
    import { takeLock } from ${JSON.stringify(module)};
    writeFileSync(${JSON.stringify(lock)}, String(${isOwn ? 'process.pid' : String(pid)}));
    utimesSync(${JSON.stringify(lock)}, new Date(${written.getTime()}), new Date(${written.getTime()}));
    takeLock(${JSON.stringify(lock)});`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    timeout: 60_000,
  });
  expect(status).toBe(0);
});

test('an error of the file system is reported, not waited for', () => {
  const code = `import { takeLock } from ${JSON.stringify(module)}; takeLock(${JSON.stringify(join(directory, 'none', 'lock'))});`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code]);
  expect(status).toBe(1);
  expect(String(stderr)).toContain('ENOENT');
});
