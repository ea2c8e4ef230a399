import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** TCP ports: [first, end). */
export interface PortRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Below the range from which Linux (from 32768), macOS and Windows (from 49152, RFC 6335 section 6) take the
 * ports of outgoing connections.
 */
const LISTENING_PORTS: PortRange = { first: 20_000, end: 32_768 };

const ATTEMPTS_MAX = 200;

/** The ports that this process has chosen: their listeners may not have started yet. */
const chosen = new Set<number>();

/**
 * A TCP port of 127.0.0.1 on which nothing listens, for a process that starts later. Each call in a process
 * chooses another port. The operating system is not asked for a port (port 0): before that process listens, the
 * system can give the same port to an outgoing connection of any process.
 *
 * @throws Error if 200 random ports of the range are in use or chosen already
 */
export async function freePort(range: PortRange = LISTENING_PORTS): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const port = randomInt(range.first, range.end);
    if (chosen.has(port) || !(await isFree(port))) continue;
    // Asked again: another call can have chosen the port during the check.
    if (chosen.has(port)) continue;
    chosen.add(port);
    return port;
  }
  throw new Error(
    `no free port was found between ${range.first} and ${range.end - 1} of 127.0.0.1; end processes that listen there.`,
  );
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' || code === 'EACCES') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
