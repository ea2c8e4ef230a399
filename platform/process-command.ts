import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The arguments of a process's command line; null if there is no process with this id. */
export function commandOf(pid: number): readonly string[] | null {
  try {
    // `ps` only where necessary: container images often lack it.
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    const args = ['-o', 'args=', '-p', String(pid)];
    return execFileSync('ps', args, { stdio: 'pipe', encoding: 'utf8' }).trim().split(' ');
  } catch {
    return null;
  }
}
