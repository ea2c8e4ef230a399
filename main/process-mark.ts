import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Identifies a process beyond the reuse of its number: a pid alone belongs to another process after a
 * restart of the machine or of a container.
 */
export interface ProcessMark {
  readonly pid: number;
  /** When the process began, in the system's own unit; only compared for equality. */
  readonly started: string;
  readonly boot: string;
}

/** The mark of a process, or null if there is no such process. */
export function processMark(pid: number): ProcessMark | null {
  const started = startOf(pid);
  return started === null ? null : { pid, started, boot: bootId() };
}

/** Whether the marked process still runs. */
export function isRunning(mark: ProcessMark): boolean {
  const now = processMark(mark.pid);
  return now !== null && now.started === mark.started && now.boot === mark.boot;
}

/** Unique for each boot of the machine; empty if the system does not provide it. */
export function bootId(): string {
  try {
    return process.platform === 'linux'
      ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      : systemAnswer('sysctl', ['-n', 'kern.bootsessionuuid']);
  } catch {
    return '';
  }
}

function startOf(pid: number): string | null {
  try {
    if (process.platform !== 'linux')
      return systemAnswer('ps', ['-o', 'lstart=', '-p', String(pid)]) || null;
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name is in parentheses and may contain blanks; the state and the start time follow it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? null : fields[19]!;
  } catch {
    return null;
  }
}

function systemAnswer(command: string, args: readonly string[]): string {
  return execFileSync(command, args, { stdio: 'pipe', encoding: 'utf8' }).trim();
}
