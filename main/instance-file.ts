import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CannotStart } from './cannot-start.ts';
import { isRunning, processMark } from './process-mark.ts';

/** Settings with which another process finds the engines of a running instance. */
export const SHARED_SETTINGS = [
  'POSTGRES_URL',
  'CLICKHOUSE_URL',
  'KAFKA_BROKERS',
  'KAFKA_TOPIC',
  'KAFKA_REPLICATION_FACTOR',
  'REDIS_URL',
] as const;

const Addresses = z.object({
  base_url: z.string(),
  settings: z.partialRecord(z.enum(SHARED_SETTINGS), z.string()),
  /** Ports of health and metrics on loopback, by role. */
  operations_ports: z.record(z.string(), z.number()),
});
const InstanceRecord = z.object({
  process: z.object({ pid: z.number(), started: z.string(), boot: z.string() }),
  /** Null while the instance is starting. */
  addresses: Addresses.nullable(),
});
export type InstanceAddresses = z.infer<typeof Addresses>;
export type InstanceRecord = z.infer<typeof InstanceRecord>;

/**
 * `instance.json` in the data directory: the process that runs on it and the addresses of its engines. It
 * contains the passwords of the engines, so only this user may read it. A file left behind by a killed
 * process is ignored, because its process mark no longer belongs to a running process.
 */
export class InstanceFile {
  readonly #file: string;
  readonly #record: InstanceRecord;

  private constructor(file: string, record: InstanceRecord) {
    this.#file = file;
    this.#record = record;
  }

  /** Claims the directory for this process. Atomic: of two concurrent starts one is refused. */
  static claim(dataDirectory: string): InstanceFile {
    const file = join(dataDirectory, 'instance.json');
    const record: InstanceRecord = { process: processMark(process.pid)!, addresses: null };
    const claim = new InstanceFile(file, record);
    const prepared = claim.#prepare(record);
    try {
      while (!isLinked(prepared, file)) {
        const holder = readRunning(dataDirectory);
        if (holder !== null) throw alreadyRunning(dataDirectory, holder);
        setAside(file, dataDirectory);
      }
    } finally {
      rmSync(prepared, { force: true });
    }
    return claim;
  }

  /** Publishes the addresses of the engines to other processes. */
  publish(addresses: InstanceAddresses): void {
    renameSync(this.#prepare({ ...this.#record, addresses }), this.#file);
  }

  /** Removes the file after all processes have ended. */
  release(): void {
    rmSync(this.#file, { force: true });
  }

  #prepare(record: InstanceRecord): string {
    const prepared = `${this.#file}.${process.pid}`;
    rmSync(prepared, { force: true });
    writeFileSync(prepared, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    return prepared;
  }
}

/** The record of the instance that runs on the directory, or null if none does. */
export function readRunning(dataDirectory: string): InstanceRecord | null {
  const record = readRecord(join(dataDirectory, 'instance.json'));
  // The same pid in the file is an earlier process: a container assigns pids again.
  const isEarlier = record?.process.pid === process.pid;
  return record !== null && !isEarlier && isRunning(record.process) ? record : null;
}

function readRecord(file: string): InstanceRecord | null {
  try {
    return InstanceRecord.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error;
    return null;
  }
}

function isLinked(prepared: string, file: string): boolean {
  try {
    linkSync(prepared, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes a stale file by renaming it first. If the renamed file is a fresh one, created in between, it is
 * put back.
 */
function setAside(file: string, dataDirectory: string): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const record = readRecord(aside);
  try {
    if (record !== null && record.process.pid !== process.pid && isRunning(record.process)) {
      linkSync(aside, file);
      throw alreadyRunning(dataDirectory, record);
    }
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Refuses a second instance on one data directory. */
export function alreadyRunning(
  dataDirectory: string,
  { process: { pid }, addresses }: InstanceRecord,
): CannotStart {
  const where = addresses === null ? '' : ` at ${addresses.base_url}`;
  return new CannotStart(
    `another Meterline (process ${pid}) already runs on ${dataDirectory}${where}; stop it first, or set DATA_DIR and PORT to run a second one.`,
  );
}
