import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs the property files of the arithmetic with deep counts and refuses to call that a success below the promised
 * number of cases, so that a deleted property is noticed.
 */
const PROMISED_CASES = 400_000;
const directory = mkdtempSync(join(tmpdir(), 'meterline-properties-'));
const tally = join(directory, 'tally');
writeFileSync(tally, '');
const arguments_ = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const filters = process.argv.slice(2);
const { status } = spawnSync(
  process.execPath,
  [
    ...arguments_,
    'node_modules/jest/bin/jest.js',
    '--config',
    'jest.domain.config.js', // no database is started
    '--testMatch',
    '**/test/domain/**/*.properties.test.ts',
    '--',
    ...filters,
  ],
  { stdio: 'inherit', env: { ...process.env, DEEP: '1', PROPERTY_TALLY: tally } },
);
const cases = readFileSync(tally, 'utf8')
  .split('\n')
  .reduce((total, line) => total + Number(line), 0);
rmSync(directory, { recursive: true });
process.stdout.write(`properties: ${cases} cases\n`);
if (filters.length === 0 && cases < PROMISED_CASES) {
  process.stderr.write(`fewer than the promised ${PROMISED_CASES} cases\n`);
  process.exitCode = 1;
} else process.exitCode = status ?? 1;
