import type { PortHolder } from './port-holder.ts';

/**
 * A problem that a person at the machine can fix. The message is one sentence: what is wrong and what to do.
 */
export class CannotStart extends Error {}

export function portInUse(host: string, port: number, holder: PortHolder | null): CannotStart {
  if (holder !== null && holder.orphanedRole !== null)
    return new CannotStart(
      `port ${port} of ${host} is in use by process ${holder.pid}, the ${holder.orphanedRole} process of a Meterline that was killed; it ends by itself within 10 seconds, so start again then.`,
    );
  const who =
    holder === null ? 'another process' : `another process (${holder.pid}, ${holder.program})`;
  return new CannotStart(
    `port ${port} of ${host} is in use by ${who}; stop that process, or set PORT to a free port.`,
  );
}

export const portNotAllowed = (port: number): CannotStart =>
  new CannotStart(
    `this user may not listen on port ${port}; set PORT to one above 1023, for example 8080.`,
  );

export const notAnAddress = (host: string): CannotStart =>
  new CannotStart(
    `${host} is not an address of this machine; set HOST to one, for example 127.0.0.1.`,
  );

export const directoryNotCreated = (directory: string, code: string): CannotStart =>
  new CannotStart(
    `DATA_DIR ${directory} cannot be created (${code}); set DATA_DIR to a directory that this user may write.`,
  );

export const directoryNotWritable = (directory: string, code: string): CannotStart =>
  new CannotStart(
    `DATA_DIR ${directory} cannot be written by this user (${code}); give this user the permission, or set DATA_DIR to a directory that it may write.`,
  );

export const diskFull = (directory: string, freeMb: number, neededMb: number): CannotStart =>
  new CannotStart(
    `the disk of DATA_DIR ${directory} has ${freeMb} MB free and ${neededMb} MB are needed; free some space, or set DATA_DIR to a directory on another disk.`,
  );

/** One sentence for the error that stopped the start: the first line of its message, never a stack. */
export function whyNotStarted(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|No space left on device|NOT_ENOUGH_SPACE/.test(text))
    return 'the disk is full; free some space, or set DATA_DIR to a directory on another disk.';
  return error instanceof CannotStart ? text : text.trim();
}
