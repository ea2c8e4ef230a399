import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { BillingError } from '../domain/errors.ts';

/** What a body may weigh once it is decoded (rulings 9). */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;
/** A body that grows by more than this while it is decoded is a bomb; small ones are harmless. */
const DECODED_RATIO_MAX = 100;
const DECODED_BYTES_FREE = 1024 * 1024;

const DECODERS: Readonly<
  Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * The whole body, decoded. Throws `too_large` beyond the cap, `unavailable` when the process holds as
 * many bytes of requests as it may, and `invalid` for a coding that is unknown or damaged. `hold`
 * counts the bytes against the process's allowance; the caller gives them back.
 */
export async function readBody(
  payload: Readable,
  encoding: string | undefined,
  hold: (bytes: number) => void,
): Promise<Buffer> {
  const coding = encoding?.trim().toLowerCase() ?? 'identity';
  const decode = coding === 'identity' || coding === '' ? null : DECODERS[coding];
  if (decode === undefined)
    throw badCoding(`Content-Encoding ${coding} is not supported: use gzip, deflate or br.`);
  const bytes = await collect(payload, hold);
  if (decode === null || bytes.length === 0) return bytes;

  const maxOutputLength = Math.min(
    BODY_BYTES_MAX,
    Math.max(DECODED_BYTES_FREE, bytes.length * DECODED_RATIO_MAX),
  );
  const decoded = await decode(bytes, { maxOutputLength }).catch((error: { code?: unknown }) => {
    if (error.code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw badCoding(`The body is no ${coding} that can be read.`);
  });
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
      // Nobody will read the rest: the answer closes the connection.
      payload.pause();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      total += chunk.length;
      if (total > BODY_BYTES_MAX) return settle(tooLarge());
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

const tooLarge = (): BillingError =>
  new BillingError(
    'too_large',
    'payload_too_large',
    `The body is larger than ${BODY_BYTES_MAX / 1024 / 1024} MiB when it is decoded.`,
  );

const badCoding = (message: string): BillingError =>
  new BillingError('invalid', 'validation_error', message, [
    { path: 'Content-Encoding', code: 'invalid_value', message },
  ]);
