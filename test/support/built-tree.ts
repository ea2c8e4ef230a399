import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CONFIG_KEYS } from '../../platform/config.ts';

/** A copy of this checkout as `npm ci` leaves it: sources, the build, and the packages of the product. */
export function copyBuiltTree(target: string): void {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'pipe' });
  mkdirSync(target, { recursive: true });
  const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  });
  const folders = sources.split('\n').map((name) => name.split('/')[0]!);
  const top = [...new Set(folders)].filter((name) => name !== '' && existsSync(name));
  // With times and modes as they are: the build in the copy is as current as the one here.
  execFileSync('cp', ['-a', ...top, 'dist', target]);
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { dev?: boolean }>;
  };
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    if (dev === true || !path.startsWith('node_modules/') || !existsSync(path)) continue;
    if (existsSync(join(target, path))) continue;
    mkdirSync(dirname(join(target, path)), { recursive: true });
    copyFolder(path, join(target, path));
  }
}

/** Hard links where the file system allows: the packages are 600 MB. */
function copyFolder(from: string, to: string): void {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'pipe' });
  } catch {
    execFileSync('cp', ['-a', from, to]);
  }
}

export interface Command {
  readonly child: ChildProcess;
  /** Its output until now, both streams. */
  output(): string;
  /** Resolves with the output once it contains the text; rejects when the process ends before. */
  untilPrinted(text: string): Promise<string>;
  /** Exit code; null after a signal. */
  readonly ended: Promise<number | null>;
}

/** A command of the tree with an environment that has no setting of the product but the given ones. */
export function runIn(
  directory: string,
  [file, ...args]: readonly [string, ...string[]],
  settings: Readonly<Record<string, string>> = {},
  options: { readonly uid?: number; readonly gid?: number } = {},
): Command {
  const env: NodeJS.ProcessEnv = { ...process.env, npm_config_loglevel: 'error' };
  for (const key of [...CONFIG_KEYS, 'NODE_OPTIONS', 'JEST_WORKER_ID']) delete env[key];
  const child = spawn(file, args, {
    cwd: directory,
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    child,
    output: () => printed,
    ended,
    untilPrinted: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (printed.includes(text)) resolve(printed);
        };
        for (const stream of [child.stdout, child.stderr]) stream.on('data', look);
        void ended.then((code) =>
          reject(new Error(`ended with ${code} before it printed "${text}":\n${printed}`)),
        );
        look();
      }),
  };
}
