import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { BillingError } from '../../domain/errors.ts';

/**
 * A body that grows by more than this factor when decoded is a decompression bomb; small bodies are harmless.
 */
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

/** Decodes the bytes of a body. */
export type BodyDecoder = (bytes: Buffer) => Promise<Buffer>;

/**
 * The decoder of a `Content-Encoding`; null for `identity`. Throws 400 for an unknown coding. The decoder
 * throws `too_large` beyond `bytesMax`, and earlier for a decompression bomb; 400 for damaged bytes
 * (tenancy S16).
 */
export function bodyDecoder(encoding: string | undefined, bytesMax: number): BodyDecoder | null {
  const coding = encoding?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity' || coding === '') return null;
  const decode = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decode === undefined)
    throw badCoding(`Content-Encoding ${coding} is not supported: use gzip, deflate or br.`);
  return async (bytes) => {
    if (bytes.length === 0) return bytes;
    const grown = Math.max(DECODED_BYTES_FREE, bytes.length * DECODED_RATIO_MAX);
    const options = { maxOutputLength: Math.min(bytesMax, grown) };
    return await decode(bytes, options).catch((error: { code?: unknown }) => {
      if (error.code === 'ERR_BUFFER_TOO_LARGE') throw bodyTooLarge(bytesMax);
      throw badCoding(`The body is not readable ${coding}.`);
    });
  };
}

export const bodyTooLarge = (bytesMax: number): BillingError =>
  new BillingError(
    'too_large',
    'payload_too_large',
    `The body is larger than ${bytesMax / 1024 / 1024} MiB when it is decoded.`,
  );

const badCoding = (message: string): BillingError =>
  new BillingError('invalid', 'validation_error', message, [
    { path: 'Content-Encoding', code: 'invalid_value', message },
  ]);
