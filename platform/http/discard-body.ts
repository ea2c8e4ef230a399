import type { Readable } from 'node:stream';

const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARDING_MS_MAX = 30_000;

/**
 * Reads and discards the rest of a refused body. Without this, a sender that is still writing sees the
 * connection break and never reads the answer. Resolves at the end of the body, when the sender disconnects,
 * and after 64 MiB or 30 seconds at the latest.
 */
export function discardBody(body: Readable): Promise<void> {
  if (body.readableEnded || body.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    const settle = (): void => {
      clearTimeout(timer);
      body.off('data', onData).off('end', settle).off('error', settle).off('close', settle);
      resolve();
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > DISCARDED_BYTES_MAX) settle();
    };
    const timer = setTimeout(settle, DISCARDING_MS_MAX);
    body.on('data', onData).on('end', settle).on('error', settle).on('close', settle).resume();
  });
}
