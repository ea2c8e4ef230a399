import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * `npm run mutation [-- folder …]`: the share of mutants that the tests notice, by folder. Incremental:
 * mutants of code and tests that did not change keep their result. Folders are run one after the
 * other, each written down when it is done, and the whole stops after two hours.
 */
const FOLDERS = ['domain/time', 'domain/pricing', 'domain/invoicing'];
const CAP_MS = 2 * 60 * 60 * 1000;
const REQUIRED_SCORE = 85;

const asked = process.argv.slice(2);
const folders = asked.length > 0 ? asked : FOLDERS;
const deadline = Date.now() + CAP_MS;
mkdirSync('reports/mutation', { recursive: true });

const lines = [];
for (const folder of folders) {
  const name = folder.replaceAll('/', '-');
  const report = `reports/mutation/${name}.json`;
  const remaining = deadline - Date.now();
  const done = remaining > 0 && (await run(folder, name, report, remaining));
  if (!done || !existsSync(report)) {
    lines.push(`mutation ${folder}: stopped by the cap of two hours`);
    process.exitCode = 1;
    continue;
  }
  const { score, killed, total } = summary(JSON.parse(readFileSync(report, 'utf8')));
  lines.push(`mutation ${folder}: ${score.toFixed(1)}% (${killed} of ${total} mutants noticed)`);
  if (score < REQUIRED_SCORE) process.exitCode = 1;
}
process.stdout.write(`${lines.join('\n')}\n`);

function run(folder, name, report, remaining) {
  const args = [
    'node_modules/@stryker-mutator/core/bin/stryker.js',
    'run',
    '--mutate',
    `${folder}/**/*.ts`,
    '--incrementalFile',
    `reports/mutation/${name}.incremental.json`,
  ];
  const child = spawn(process.execPath, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      MUTATION_FOLDER: folder,
      MUTATION_REPORT: report,
      SEED: '1',
      PROPERTY_SHARE: '0.1',
      SHARED_DIRECTORY: process.env.SHARED_DIRECTORY ?? resolve('../shared'),
    },
  });
  const timer = setTimeout(() => child.kill('SIGINT'), remaining);
  return new Promise((done) => {
    child.on('exit', (code) => {
      clearTimeout(timer);
      done(code === 0);
    });
  });
}

/** A mutant is noticed when a test fails or runs out of time; ignored and uncompilable ones do not count. */
function summary(report) {
  const mutants = Object.values(report.files).flatMap((file) => file.mutants);
  const counted = mutants.filter(({ status }) =>
    ['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status),
  );
  const killed = counted.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  return {
    score: (100 * killed.length) / Math.max(1, counted.length),
    killed: killed.length,
    total: counted.length,
  };
}
