import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface DataSteps {
  /** Holds `data/` and `password`. */
  readonly directory: string;
  /** Changes the owner of a path to the account that the server runs as. */
  own(path: string): void;
  /** Initializes an empty directory as a new database; the file contains the superuser's password. */
  initdb(dataDirectory: string, passwordFile: string): void;
}

export interface EmbeddedData {
  readonly dataDirectory: string;
  readonly password: string;
}

/**
 * The data directory and the superuser's password. The first start creates both in a directory next to their
 * final place and renames the data last, so `data/` exists only as a complete database. An existing `data/`
 * is never deleted: if its password is missing, or if it is not a database, this throws and says what to do.
 */
export function initializeOnce({ directory, own, initdb }: DataSteps): EmbeddedData {
  const dataDirectory = join(directory, 'data');
  const passwordFile = join(directory, 'password');
  if (isEmpty(dataDirectory)) {
    const fresh = join(directory, 'data.new');
    rmSync(fresh, { recursive: true, force: true });
    mkdirSync(fresh, { mode: 0o700 });
    own(fresh);
    writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    own(passwordFile);
    initdb(fresh, passwordFile);
    rmSync(dataDirectory, { recursive: true, force: true });
    renameSync(fresh, dataDirectory);
  }
  refuseOtherData(dataDirectory);
  const password = existsSync(passwordFile) ? readFileSync(passwordFile, 'utf8').trim() : '';
  if (password === '') throw passwordMissing(dataDirectory, passwordFile);
  return { dataDirectory, password };
}

const isEmpty = (path: string): boolean => !existsSync(path) || readdirSync(path).length === 0;

function refuseOtherData(dataDirectory: string): void {
  if (existsSync(join(dataDirectory, 'PG_VERSION'))) return;
  throw new Error(
    `${dataDirectory} is not empty and has no PG_VERSION, so it is not a complete Postgres database. ` +
      'Nothing was changed. Restore it from a backup, or move it away to begin with an empty database.',
  );
}

const passwordMissing = (dataDirectory: string, passwordFile: string): Error =>
  new Error(
    `${passwordFile} is missing or empty; it belongs to the database next to it, ${dataDirectory}. ` +
      'Nothing was changed. Put the file back from a backup. If it is lost: start Postgres on that ' +
      'directory with a pg_hba.conf that trusts local connections, set a new password for the user ' +
      "postgres (alter role postgres password '…'), write it into the file, and restore pg_hba.conf. " +
      'To begin with an empty database, move the data directory away.',
  );
