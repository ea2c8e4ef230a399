import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The words of a process's command line; null if there is no such process. */
export function commandOf(pid: number): readonly string[] | null {
  try {
    // `ps` only where it must be: images for containers often come without it.
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
    const args = ['-o', 'args=', '-p', String(pid)];
    return execFileSync('ps', args, { stdio: 'pipe', encoding: 'utf8' }).trim().split(' ');
  } catch {
    return null;
  }
}
