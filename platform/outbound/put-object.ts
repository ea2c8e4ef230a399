import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Outbound } from './guarded-request.ts';
import type { OutboundRules } from './outbound-rules.ts';

/** An object of a bucket that speaks the protocol of S3, and the keys of its owner. */
export interface PutObject {
  readonly bucket: string;
  readonly region: string;
  /** The storage; null for AWS. */
  readonly endpoint_url: string | null;
  /** `https://storage/bucket/key` in place of `https://bucket.storage/key`. */
  readonly use_path_style: boolean;
  readonly key: string;
  readonly body: Buffer;
  readonly content_type: string;
  readonly encryption: 'AES256' | 'aws:kms' | 'aws:kms:dsse';
  readonly credentials: StorageCredentials;
  readonly rules: OutboundRules;
}

export interface StorageCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The storage refused the request: it would refuse it again. */
export class StorageRefused extends Error {}

const TIMEOUT_MS = 120_000;

/**
 * Writes an object; an object with that key is replaced. `nowMs` is the time of the signature: storages accept 15
 * minutes of difference. Throws `StorageRefused` for a status 4xx except 408 and 429, `AddressRefused` for a
 * storage that the rules exclude, and `Error` for everything that may pass later.
 */
export async function putObject(
  outbound: Pick<Outbound, 'put'>,
  object: PutObject,
  nowMs: number,
): Promise<void> {
  const url = urlOf(object);
  const signer = new SignatureV4({
    service: 's3',
    region: object.region,
    credentials: object.credentials,
    sha256: Sha256,
    uriEscapePath: false,
  });
  const { headers } = await signer.sign(
    {
      method: 'PUT',
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: {},
      headers: {
        host: url.host,
        'content-type': object.content_type,
        'x-amz-server-side-encryption': object.encryption,
        'x-amz-content-sha256': createHash('sha256').update(object.body).digest('hex'),
      },
      body: object.body,
    },
    { signingDate: new Date(nowMs) },
  );
  const answer = await outbound.put({
    url: url.href,
    headers,
    body: object.body,
    rules: object.rules,
    timeoutMs: TIMEOUT_MS,
  });
  if (answer.status >= 200 && answer.status < 300) return;
  const code = /<Code>([\w.]{1,100})<\/Code>/.exec(answer.body)?.[1] ?? 'no code';
  const message = `the storage answered ${answer.status} (${code})`;
  const isFinal =
    answer.status >= 400 && answer.status < 500 && ![408, 429].includes(answer.status);
  throw isFinal ? new StorageRefused(message) : new Error(message);
}

function urlOf({ bucket, region, endpoint_url, use_path_style, key }: PutObject): URL {
  const url = new URL(endpoint_url ?? `https://s3.${region}.amazonaws.com`);
  if (!use_path_style) url.host = `${bucket}.${url.host}`;
  const path = [...(use_path_style ? [bucket] : []), ...key.split('/')].map(escaped).join('/');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url;
}

/** As the signature escapes: everything but letters, digits and `-_.~`. */
const escaped = (part: string): string =>
  encodeURIComponent(part).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The hash that the signer asks for; with a secret, a message authentication code. */
class Sha256 {
  readonly #hash: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', bytesOf(secret));
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(bytesOf(data));
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }

  reset(): void {
    throw new Error('a hash is used once');
  }
}

function bytesOf(data: string | ArrayBuffer | ArrayBufferView): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  return ArrayBuffer.isView(data)
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from(data);
}
