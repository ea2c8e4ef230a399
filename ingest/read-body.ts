import type { Readable } from 'node:stream';
import { BillingError } from '../domain/errors.ts';
import { bodyDecoder, bodyTooLarge } from '../platform/http/decode-body.ts';

/** Largest decoded body (metering 2). */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The whole body, decoded. Throws `too_large` beyond the cap, `unavailable` when the process holds its
 * maximum of request bytes, and `invalid` for an unknown coding or damaged data. `hold` counts the bytes
 * against the process's limit; the caller releases them.
 */
export async function readBody(
  payload: Readable,
  encoding: string | undefined,
  hold: (bytes: number) => void,
): Promise<Buffer> {
  const decode = bodyDecoder(encoding, BODY_BYTES_MAX);
  const bytes = await collect(payload, hold);
  if (decode === null || bytes.length === 0) return bytes;
  const decoded = await decode(bytes);
  hold(decoded.length);
  return decoded;
}

/** Listens instead of iterating: an async iterator costs three times as much for a body of one chunk. */
function collect(payload: Readable, hold: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let total = 0;
    const settle = (error: Error | null): void => {
      payload.off('data', onData).off('end', onEnd).off('error', settle).off('close', onClose);
      if (error === null) return resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
      // The rest is not read: the answer closes the connection.
      payload.pause();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      total += chunk.length;
      if (total > BODY_BYTES_MAX) return settle(bodyTooLarge(BODY_BYTES_MAX));
      try {
        hold(chunk.length);
      } catch (refusal) {
        return settle(refusal as Error);
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => settle(null);
    const onClose = (): void =>
      settle(new BillingError('invalid', 'validation_error', 'The body ended early.'));
    payload.on('data', onData).on('end', onEnd).on('error', settle).on('close', onClose);
  });
}
