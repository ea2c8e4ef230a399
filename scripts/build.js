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
import { takeLock } from './build-lock.js';

/**
 * Compiles the sources to `dist/`, unless nothing has changed since the last time: a start then only compares
 * file times. Types are not checked here (`npm run types` does), which makes it four times as fast. `dist/` is
 * created again, so that a file that is gone from the sources is gone there too.
 */
const SOURCES = [
  'schemas', 'domain', 'platform', 'postgres', 'clickhouse', 'ingest', 'stream', 'api', 'jobs', 'main', 'bench',
]; // prettier-ignore
const CONFIGURATION = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
/** Files that the product reads at run time, beside the code that reads them. */
const ASSETS = ['postgres/migrations', 'clickhouse/migrations', 'schemas/events'];
const STAMP = 'dist/.built';
const LOCK = 'dist/.building';

/** The sources of the pages. They have a stamp of their own, because they change independently. */
const PAGE_SOURCES = ['web', 'schemas', 'domain', 'package-lock.json'];
const PAGES = 'dist/web';
const PAGES_STAMP = join(PAGES, '.built');
const VITE = 'node_modules/vite/bin/vite.js';

const changedAt = (path) => {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  // The time of the folder itself tells of files that were added, renamed or deleted.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => changedAt(join(path, name))));
};

// Another build may remove the stamp at any time.
const isCurrent = (stamp, paths) => {
  const built = statSync(stamp, { throwIfNoEntry: false });
  return built !== undefined && Math.max(...paths.map(changedAt)) < built.mtimeMs;
};

const run = (script, args) => {
  // Pages are always built for production, without the checks that libraries make for developers.
  const env = { ...process.env, NODE_ENV: 'production' };
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
};

/** If this user may not write to `dist/`, says so and ends the process. */
function writing(work) {
  try {
    return work();
  } catch (error) {
    process.stderr.write(
      `Meterline was not built: ${resolve('dist')} cannot be written by this user (${error.code}); give this user the permission, or build as the user that owns the checkout.\n`,
    );
    process.exit(1);
  }
}

function compile() {
  writing(() => {
    for (const name of readdirSync('dist'))
      if (![PAGES, LOCK].includes(join('dist', name)))
        rmSync(join('dist', name), { recursive: true });
  });
  run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
  for (const folder of ASSETS)
    cpSync(folder, join('dist', folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    });
  writeFileSync(STAMP, '');
}

function buildPages() {
  run(VITE, ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']);
  run('scripts/compress-pages.js', [PAGES]);
  writeFileSync(PAGES_STAMP, '');
}

const isCompiled = () => isCurrent(STAMP, [...SOURCES, ...CONFIGURATION]);

/** Without the sources of the pages, or without the tool that builds them, the API is served alone. */
const arePagesBuilt = () =>
  !existsSync('web') || !existsSync(VITE) || isCurrent(PAGES_STAMP, PAGE_SOURCES);

if (existsSync('web') && !existsSync(VITE) && !isCurrent(PAGES_STAMP, PAGE_SOURCES))
  process.stderr.write('The pages are not built: vite is not installed (npm ci installs it).\n');

if (!isCompiled() || !arePagesBuilt()) {
  const release = writing(() => {
    mkdirSync('dist', { recursive: true });
    return takeLock(LOCK);
  });
  // Another process may have built meanwhile.
  if (!isCompiled()) compile();
  if (!arePagesBuilt()) buildPages();
  release();
}
