import { once } from 'node:events';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../platform/config.ts';
import {
  directoryNotCreated,
  directoryNotWritable,
  diskFull,
  notAnAddress,
  portInUse,
  portNotAllowed,
} from './cannot-start.ts';

/** Room for the engines to begin in, and to write what they recover after a kill. */
const FREE_MB_MIN = 200;

/**
 * Looks at what `npm start` needs of the machine before an engine touches the data: an engine that fails
 * half way would say so in words of its own, and one that runs out of disk would be started again and again.
 */
export async function checkMachine(
  { HOST, PORT, POSTGRES_URL, CLICKHOUSE_URL }: Config,
  dataDirectory: string,
): Promise<void> {
  if (PORT !== 0) await checkPort(HOST, PORT);
  checkDirectory(dataDirectory);
  if (POSTGRES_URL === undefined || CLICKHOUSE_URL === undefined) checkDisk(dataDirectory);
}

async function checkPort(host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw portInUse(host, port);
    if (code === 'EACCES') throw portNotAllowed(port);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw notAnAddress(host);
    throw error;
  }
  server.close();
  await once(server, 'close');
}

function checkDirectory(directory: string): void {
  try {
    // Keys and passwords lie below. One that is there already keeps its mode: it may be more than ours.
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw directoryNotCreated(directory, codeOf(error));
  }
  const probe = join(directory, `.probe.${process.pid}`);
  try {
    writeFileSync(probe, '');
  } catch (error) {
    if (codeOf(error) === 'ENOSPC') throw diskFull(directory, freeMb(directory), FREE_MB_MIN);
    throw directoryNotWritable(directory, codeOf(error));
  }
  rmSync(probe);
}

function checkDisk(directory: string): void {
  const free = freeMb(directory);
  if (free < FREE_MB_MIN) throw diskFull(directory, free, FREE_MB_MIN);
}

function freeMb(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return Math.floor((bavail * bsize) / 1_000_000);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
