import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An object that was written, with the headers of its request. */
export interface StoredObject {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A storage that speaks the part of S3 that exports use: `PUT /bucket/key`, signed with version 4. */
export interface TestStorage {
  readonly url: string;
  /** By `/bucket/key`. */
  readonly objects: Map<string, StoredObject>;
  /** Paths of all requests in their order. */
  readonly requests: string[];
  /** The status of the next answers in place of 200; taken one by one. */
  readonly answers: number[];
  close(): Promise<void>;
}

export const STORAGE_KEYS = {
  aws_access_key_id: 'AKIATEST',
  aws_secret_access_key: 'secret/of+the-test',
} as const;

/** Refuses a request whose signature is not that of `STORAGE_KEYS`, computed here from the published algorithm. */
export async function startStorage(): Promise<TestStorage> {
  const objects = new Map<string, StoredObject>();
  const requests: string[] = [];
  const answers: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    requests.push(request.url!);
    const given = answers.shift();
    const status = given ?? (isSigned(request, body) ? 200 : 403);
    if (status === 200) objects.set(request.url!, { body, headers: request.headers });
    response.writeHead(status);
    response.end(status === 200 ? '' : `<Error><Code>Refused${status}</Code></Error>`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    answers,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => closed());
      }),
  };
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const mac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const { headers } = request;
  const [, id, scope, names, signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=(\S+)$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (id !== STORAGE_KEYS.aws_access_key_id || headers['x-amz-content-sha256'] !== sha256(body))
    return false;
  const signed = names!.split(';');
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date'])
    if (!signed.includes(needed)) return false;
  const canonical = [
    request.method,
    request.url,
    '',
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const secret: string | Buffer = `AWS4${STORAGE_KEYS.aws_secret_access_key}`;
  const key = scope!
    .split('/')
    .reduce<string | Buffer>((before, part) => mac(before, part), secret);
  return mac(key, text).toString('hex') === signature;
}
