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
import { portHolder } from './port-holder.ts';

/** Free disk space for the start of the engines and their recovery after a kill. */
const FREE_MB_MIN = 200;

/**
 * Checks the machine's requirements of `npm start` before an engine touches the data. Without the checks a
 * failing engine would report its own cryptic message, and one without disk space would restart in a loop.
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
    if (code === 'EADDRINUSE') throw portInUse(host, port, portHolder(port));
    if (code === 'EACCES') throw portNotAllowed(port);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') throw notAnAddress(host);
    throw error;
  }
  server.close();
  await once(server, 'close');
}

function checkDirectory(directory: string): void {
  try {
    // Keys and passwords are stored below it. An existing directory keeps its mode: it may have other uses.
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
