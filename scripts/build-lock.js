import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';

const WAIT_MS = 100;
const WRITING_MS = 5_000;
/** Many times longer than a build: the number of a process that is gone may belong to another one by then. */
const HELD_MS = 10 * 60_000;

/**
 * Waits until no other process holds the file `lock`, and takes it: two builds of one tree would remove each other's
 * files. The lock of a process that is gone is taken over. Returns the function that gives it back; the end of the
 * process gives it back too.
 */
export function takeLock(lock) {
  let isFirst = true;
  while (!take(lock)) {
    if (isFirst) process.stderr.write(`Another process builds this tree: waiting for ${lock}.\n`);
    isFirst = false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
  }
  const release = () => {
    process.removeListener('exit', release);
    rmSync(lock, { force: true });
  };
  process.once('exit', release);
  return release;
}

function take(lock) {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isHeld(lock)) rmSync(lock, { force: true });
    return false;
  }
}

/**
 * Whether the process that wrote the lock is alive. A new lock without a number is being written. A restarted container
 * gives this process the number of the one before.
 */
function isHeld(lock) {
  try {
    const holder = Number(readFileSync(lock, 'utf8'));
    const ageMs = Date.now() - statSync(lock).mtimeMs;
    if (holder === 0) return ageMs < WRITING_MS;
    if (holder === process.pid || ageMs > HELD_MS) return false;
    process.kill(holder, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}
