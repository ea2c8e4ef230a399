import { existsSync } from 'node:fs';
import { registry } from './operations/registry.ts';
import { loadCases, loadContradictions, report } from './run-golden.ts';

/** `npm run golden -- DIR`: every case below DIR; exit code 1 when one fails or is not supported. */
const directory = process.argv[2];
if (directory === undefined || !existsSync(directory)) {
  process.stderr.write('usage: npm run golden -- DIR (a directory of golden cases)\n');
  process.exit(2);
}
const { text, ok } = report(loadCases(directory), registry, loadContradictions());
process.stdout.write(`${text}\n`);
process.exitCode = ok ? 0 : 1;
