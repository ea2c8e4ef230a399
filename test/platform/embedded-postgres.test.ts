import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initializeOnce } from '../../postgres/embedded-data.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'meterline-embedded-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Writes what `initdb` writes, as far as the rule looks at it. */
const initdb = (data: string) => {
  writeFileSync(join(data, 'PG_VERSION'), '17\n');
  writeFileSync(join(data, 'rows'), 'all invoices');
};
const start = (run = initdb) => initializeOnce({ directory, own: () => {}, initdb: run });
const found = () => readdirSync(directory).sort();

test('the first start makes the data and its password; the next one keeps both', () => {
  const first = start();
  expect(first.password).toMatch(/^[0-9a-f]{48}$/);
  expect(found()).toEqual(['data', 'password']);
  expect(start(() => expect(true).toBe(false))).toEqual(first);
});

test('a missing password file never deletes the data: the start is refused with what to do', () => {
  start();
  rmSync(join(directory, 'password'));
  expect(() => start()).toThrow(
    /password.* is missing.*beside.*Put the file back.*backup|set a new password/s,
  );
  expect(existsSync(join(directory, 'data', 'rows'))).toBe(true);
});

test('an empty password file is treated as missing', () => {
  start();
  writeFileSync(join(directory, 'password'), '\n');
  expect(() => start()).toThrow(/password/);
  expect(existsSync(join(directory, 'data', 'rows'))).toBe(true);
});

test('a data directory that is not empty is not initialized', () => {
  start();
  rmSync(join(directory, 'data', 'PG_VERSION'));
  expect(() => start()).toThrow(/PG_VERSION/);
  expect(existsSync(join(directory, 'data', 'rows'))).toBe(true);
});

test('a start that is killed leaves no partial database', () => {
  const dies = () => {
    throw new Error('killed');
  };
  expect(() => start(dies)).toThrow('killed');
  expect(existsSync(join(directory, 'data'))).toBe(false);
  start();
  expect(found()).toEqual(['data', 'password']);
});

test('a password without data, from a start that died before its last step, is replaced', () => {
  writeFileSync(join(directory, 'password'), 'old');
  expect(start().password).not.toBe('old');
});
