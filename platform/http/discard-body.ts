import type { Readable } from 'node:stream';

const DISCARDED_BYTES_MAX = 64 * 1024 * 1024;
const DISCARDING_MS_MAX = 30_000;

/**
 * Reads what is left of a body that was refused, and forgets it: a sender that still writes while the
 * connection closes sees it break, and never the answer that says why. Resolves at the end of the body, when
 * the sender goes away, and after 64 MiB or 30 seconds at the latest.
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
