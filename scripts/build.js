import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Compiles the sources to `dist/`, unless nothing has changed since the last time: a start then costs a
 * look at some file times. Types are not checked here (`npm run types` does), which makes it four times
 * as fast. `dist/` is made anew, so that a file that is gone from the sources is gone there too.
 */
const SOURCES = [
  'schemas', 'domain', 'platform', 'postgres', 'clickhouse', 'ingest', 'stream', 'api', 'jobs', 'main', 'bench',
]; // prettier-ignore
const CONFIGURATION = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
/** Files that the product reads at run time, beside the code that reads them. */
const ASSETS = ['postgres/migrations', 'clickhouse/migrations', 'schemas/events'];
const STAMP = 'dist/.built';

const changedAt = (path) => {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  // The time of the folder itself tells of files that were added, renamed or deleted.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
};

const isCurrent =
  existsSync(STAMP) &&
  Math.max(...[...SOURCES, ...CONFIGURATION].map(changedAt)) < statSync(STAMP).mtimeMs;

if (!isCurrent) {
  try {
    rmSync('dist', { recursive: true, force: true });
    mkdirSync('dist');
  } catch (error) {
    process.stderr.write(
      `Meterline was not built: ${resolve('dist')} cannot be written by this user (${error.code}); give this user the permission, or build as the user that owns the checkout.\n`,
    );
    process.exit(1);
  }
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'];
  const { status } = spawnSync(process.execPath, compiler, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  for (const folder of ASSETS)
    cpSync(folder, join('dist', folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    });
  writeFileSync(STAMP, '');
}
