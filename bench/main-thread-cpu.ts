import { closeSync, openSync, readSync } from 'node:fs';

const text = Buffer.alloc(128);
let file: number | null | undefined;

/**
 * Milliseconds for which the main thread has run on a processor. Waits for other processes do not count, and
 * neither do the helper threads of this process (collections, compression, password hashes). Linux brings the
 * figure up to date at its ticks, so that it is exact to about 4 ms. Elsewhere the whole process counts.
 */
export function mainThreadCpuMs(): number {
  if (file === undefined) file = open();
  if (file === null) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const length = readSync(file, text, 0, text.length, 0);
  return Number(text.toString('latin1', 0, length).split(' ')[0]) / 1e6;
}

/** The first figure of this file is the time on a processor, in nanoseconds. */
function open(): number | null {
  try {
    const opened = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    process.once('exit', () => closeSync(opened));
    return opened;
  } catch {
    return null;
  }
}
