import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { publicCopy } from './embedded-binaries.ts';

const SYSTEM_USER = 'postgres';

/** The operating system account that the server runs as. */
export interface Account {
  /** Changes the owner of a file or directory to the account. */
  own(path: string): void;
  /** The directory of the binaries from which the account may execute them. */
  executable(root: string): string;
  /**
   * Starts in the given directory. The account can reach the directory and the files below it by
   * `place.path`.
   */
  spawn(command: string, place: Place, args: readonly string[]): ChildProcess;
  run(command: string, place: Place, args: readonly string[]): void;
}

/** A directory of the account, and the paths by which a process that starts in it reaches files. */
export interface Place {
  readonly cwd: string;
  path(file: string): string;
}

/**
 * Postgres refuses to run as root. As any other user it runs as that user. As root it gets a system user of
 * its own, which may have no access to a parent directory (a checkout below the home of root). It needs no
 * further rights then: docs/decisions/0007-postgres-below-a-private-directory.md.
 */
export function systemAccount(): Account {
  const env = { ...process.env, LC_ALL: 'C' };
  const output = ['ignore', 'ignore', 'pipe'] as const;
  if (process.getuid?.() !== 0)
    return {
      own: () => {},
      executable: (root) => root,
      spawn: (command, { cwd }, args) =>
        spawn(command, args, { cwd, env, detached: true, stdio: [...output] }),
      run: (command, { cwd }, args) =>
        void execFileSync(command, args, { cwd, env, stdio: 'pipe' }),
    };
  const { uid, gid } = systemUser();
  return {
    own: (path) => chownSync(path, uid, gid),
    executable: (root) => (isReachable(root) ? root : publicCopy(root)),
    // The working directory is entered before the user changes.
    spawn: (command, { cwd }, args) =>
      spawn(command, args, { cwd, env, uid, gid, detached: true, stdio: [...output] }),
    run: (command, { cwd }, args) =>
      void execFileSync(command, args, { cwd, env, uid, gid, stdio: 'pipe' }),
  };
}

/**
 * The process starts in the directory. If other users cannot reach it by its name, a process of another user
 * reaches it as its own working directory: the kernel opens that link without checking the parents.
 */
export function placeIn(directory: string): Place {
  const cwd = resolve(directory);
  if (process.getuid?.() !== 0 || isReachable(cwd)) return { cwd, path: (file) => file };
  if (!existsSync('/proc/self/cwd'))
    throw new Error(
      `As root, Postgres runs as a user of its own, which may not enter the directories above ${cwd}: run as another user, or set DATA_DIR to a directory that all users may enter.`,
    );
  // Not joined: `..` refers to the parent of the link's target, not of the name.
  return { cwd, path: (file) => ['/proc/self/cwd', relative(cwd, file)].filter(Boolean).join('/') };
}

function systemUser(): { uid: number; gid: number } {
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, SYSTEM_USER], { stdio: 'pipe' }).toString());
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    try {
      execFileSync('useradd', ['--system', '--user-group', '--no-create-home', SYSTEM_USER], {
        stdio: 'pipe',
      });
    } catch (error) {
      throw new Error(
        `Postgres does not run as root, and the user ${SYSTEM_USER} could not be made: make it, run as another user, or set POSTGRES_URL.`,
        { cause: error },
      );
    }
    return { uid: id('-u'), gid: id('-g') };
  }
}

/** Whether other users may enter every parent directory. */
function isReachable(path: string): boolean {
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    if (existsSync(parent) && (statSync(parent).mode & 0o001) === 0) return false;
    if (parent === dirname(parent)) return true;
  }
}
