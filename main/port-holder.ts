import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { commandOf } from '../platform/process-command.ts';

/** The process that listens on a port. */
export interface PortHolder {
  readonly pid: number;
  /** Its program, for example `node`. */
  readonly program: string;
  /** The role of ours that it runs although its supervisor is gone; null for every other process. */
  readonly orphanedRole: string | null;
}

const ROLE = /[/\\]main[/\\](serve|ingest|api|stream|jobs)\.js$/;

/** Null if no process of this user listens on the port, or the system does not tell. */
export function portHolder(port: number): PortHolder | null {
  try {
    const pid = process.platform === 'linux' ? listenerOnLinux(port) : listenerByLsof(port);
    const words = pid === null ? null : commandOf(pid);
    if (pid === null || words === null) return null;
    const role = words.map((word) => ROLE.exec(word)?.[1]).find((found) => found !== undefined);
    return {
      pid,
      program: basename(words[0] ?? ''),
      orphanedRole: role !== undefined && !isSupervised(pid) ? role : null,
    };
  } catch {
    return null;
  }
}

/** Orphans belong to the system's first process or to another one that collects them, never to Node. */
function isSupervised(pid: number): boolean {
  const parent = parentOf(pid);
  return parent !== null && basename(commandOf(parent)?.[0] ?? '') === 'node';
}

function parentOf(pid: number): number | null {
  if (process.platform !== 'linux') return Number(answerOf('ps', '-o', 'ppid=', '-p', String(pid)));
  // The command name is in parentheses and may contain blanks; the state and the parent follow it.
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function listenerOnLinux(port: number): number | null {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) => listeningSockets(file, port)),
  );
  if (sockets.size === 0) return null;
  for (const name of readdirSync('/proc'))
    if (/^\d+$/.test(name) && hasOpen(`/proc/${name}/fd`, sockets)) return Number(name);
  return null;
}

const LISTENING = '0A';

/** Links of open files that are sockets listening on the port. */
function listeningSockets(file: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return linesOf(file)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && local?.endsWith(`:${hex}`))
    .map((fields) => `socket:[${fields[9]}]`);
}

/** Empty for a file that does not exist: a machine without IPv6. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** False for processes of other users. */
function hasOpen(directory: string, links: ReadonlySet<string>): boolean {
  try {
    return readdirSync(directory).some((name) => links.has(linkOf(`${directory}/${name}`)));
  } catch {
    return false;
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function listenerByLsof(port: number): number | null {
  const pid = Number(answerOf('lsof', '-nP', '-t', `-iTCP:${port}`, '-sTCP:LISTEN').split('\n')[0]);
  return pid > 0 ? pid : null;
}

function answerOf(command: string, ...args: readonly string[]): string {
  return execFileSync(command, args, { stdio: 'pipe', encoding: 'utf8' }).trim();
}
