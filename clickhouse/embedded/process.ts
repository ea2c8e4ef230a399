import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Session, drainPending } from 'chdb';
import { isFatal, queryFailure } from './errors.ts';
import { FailedWrites } from './failed-writes.ts';
import { createEmbeddedHttpServer } from './http.ts';
import type { EmbeddedProcessOptions, EmbeddedProcessReady } from './server.ts';
import { SessionPool } from './sessions.ts';

/**
 * Entry point of the child process that `startEmbeddedClickHouse` starts: opens the data directory, serves,
 * and ends with its parent. Acknowledged data is already on disk, so ending at any moment loses nothing.
 */
const DRAIN_MS_MAX = 10_000;
/** Merges write without a request. */
const FAILED_WRITES_MS = 1_000;

// Sent over the channel to the parent, because every local user can read arguments. Node keeps the message
// until it is awaited.
const [options] = (await once(process, 'message')) as [EmbeddedProcessOptions];
const open = () => new Session(options.directory);
const failedWrites = await FailedWrites.watch(new SessionPool(open, 1));
const server = createEmbeddedHttpServer({
  reads: new SessionPool(open, options.readSessions),
  analytics: new SessionPool(open, options.analyticsSessions),
  inserts: new SessionPool(open, options.insertSessions),
  password: options.password,
  failedWrites,
  onFatal: end,
});

// A killed parent cannot send a message, but its end closes the channel.
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => void drain());
process.on('SIGINT', () => void drain());

server.listen(options.port, '127.0.0.1');
await once(server, 'listening');
const ready: EmbeddedProcessReady = { port: (server.address() as AddressInfo).port };
process.send!(ready);
void watchMerges();

/** Ends the process; the supervisor starts another one. */
function end(message: string): void {
  process.stderr.write(`the engine has ended: ${message}\n`);
  setTimeout(() => process.exit(1), 100); // the answer with the error goes out first
}

async function watchMerges(): Promise<never> {
  for (;;) {
    await sleep(FAILED_WRITES_MS, undefined, { ref: false });
    try {
      await failedWrites.refuse();
    } catch (error) {
      const failure = queryFailure(error);
      if (isFatal(failure)) end(failure.message);
    }
  }
}

/** Answers the running requests, takes no new ones, and ends. */
async function drain(): Promise<void> {
  setTimeout(() => process.exit(0), DRAIN_MS_MAX).unref();
  const closed = once(server, 'close');
  server.close();
  setInterval(() => server.closeIdleConnections(), 10);
  await closed;
  await drainPending();
  process.exit(0);
}
