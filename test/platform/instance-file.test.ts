import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CannotStart } from '../../main/cannot-start.ts';
import { InstanceFile, readRunning } from '../../main/instance-file.ts';
import { isRunning, processMark } from '../../main/process-mark.ts';

const ADDRESSES = {
  base_url: 'http://127.0.0.1:8080',
  settings: { POSTGRES_URL: 'postgres://postgres:secret@127.0.0.1:5432/meterline' },
  operations_ports: { stream: 4001 },
};

let directory: string;
let file: string;
let other: ChildProcess;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'meterline-instance-'));
  file = join(directory, 'instance.json');
  other = spawn('sleep', ['1000']);
  await once(other, 'spawn');
});
afterEach(async () => {
  await end(other);
  rmSync(directory, { recursive: true });
});
const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
};
const writtenBy = (pid: number, change: object = {}): void =>
  writeFileSync(
    file,
    JSON.stringify({ process: { ...processMark(pid), ...change }, addresses: ADDRESSES }),
  );

describe('who runs on a data directory', () => {
  test('the file lists the engines once they are up, for this user only, and is deleted with the instance', () => {
    const claim = InstanceFile.claim(directory);
    claim.publish(ADDRESSES);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory)).toEqual(['instance.json']);
    claim.release();
    expect(existsSync(file)).toBe(false);
  });

  test('an instance of another process is found with its addresses', () => {
    writtenBy(other.pid!);
    expect(readRunning(directory)).toEqual({
      process: processMark(other.pid!),
      addresses: ADDRESSES,
    });
  });

  test('a second instance is refused in one sentence; the first one keeps its file', () => {
    writtenBy(other.pid!);
    const claim = (): unknown => InstanceFile.claim(directory);
    expect(claim).toThrow(CannotStart);
    expect(claim).toThrow(
      `another Meterline (process ${other.pid}) already runs on ${directory} at http://127.0.0.1:8080; stop it first, or set DATA_DIR and PORT to run a second one.`,
    );
    expect(readdirSync(directory)).toEqual(['instance.json']);
    expect(readRunning(directory)?.addresses).toEqual(ADDRESSES);
  });

  test('the file of a killed process is stale', async () => {
    writtenBy(other.pid!);
    await end(other);
    expect(readRunning(directory)).toBeNull();
    InstanceFile.claim(directory).release();
  });

  test.each([
    ['another boot of the machine', { boot: 'earlier' }],
    ['an earlier process of the same number', { started: '1' }],
  ])('the file of %s is stale', (_what, change) => {
    writtenBy(other.pid!, change);
    expect(readRunning(directory)).toBeNull();
    InstanceFile.claim(directory).release();
  });

  test('the own number in the file is that of an earlier process', () => {
    writtenBy(process.pid);
    expect(readRunning(directory)).toBeNull();
    InstanceFile.claim(directory).release();
  });

  test('a file that was cut off by a full disk is stale', () => {
    writeFileSync(file, '{"process":');
    expect(readRunning(directory)).toBeNull();
    InstanceFile.claim(directory).release();
  });
});

describe('the mark of a process', () => {
  test('of one that runs, of one that has ended, of one that never was', async () => {
    const mark = processMark(other.pid!)!;
    expect(isRunning(mark)).toBe(true);
    await end(other);
    expect(isRunning(mark)).toBe(false);
    expect(processMark(2 ** 30)).toBeNull();
  });
});
