import { lookup as resolve, type LookupAddress } from 'node:dns';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { isAllowedHost, outboundProblem, type OutboundRules } from './outbound-rules.ts';
import { isPublicAddress } from './public-address.ts';

/** The answer of a receiver. */
export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 4 KB. */
  readonly body: string;
}

export interface OutboundRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  readonly rules: OutboundRules;
  /** Default: 15 s. */
  readonly timeoutMs?: number;
}

/**
 * The rules exclude the address, or the name resolves to an address that is not public. The same request is refused
 * again until its owner changes the URL or the name.
 */
export class AddressRefused extends Error {}

/** Sends requests to addresses that tenants choose. */
export interface Outbound {
  /**
   * Sends a POST request and follows no redirect. Rejects if the answer's head is not complete in time,
   * and with `AddressRefused` if the address is not allowed. A name is resolved once, all its addresses are
   * checked, and the connection uses the checked result.
   */
  post(request: OutboundRequest): Promise<OutboundAnswer>;
  /** The same with PUT. */
  put(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): void;
}

const TIMEOUT_MS = 15_000;
const BODY_BYTES_KEPT = 4_096;
/** The connection is closed when the answer is longer. */
const BODY_BYTES_MAX = 64 * 1024;
const SOCKETS_PER_HOST = 64;

export function createOutbound(): Outbound {
  const options = { keepAlive: true, maxSockets: SOCKETS_PER_HOST, timeout: TIMEOUT_MS };
  // Connections to checked addresses and to excepted hosts are never shared.
  const agents = {
    checked: { http: new HttpAgent(options), https: new HttpsAgent(options) },
    excepted: { http: new HttpAgent(options), https: new HttpsAgent(options) },
  };
  const guarded = async (method: 'POST' | 'PUT', sent: OutboundRequest) => {
    const problem = outboundProblem(sent.url, sent.rules);
    if (problem !== null) throw new AddressRefused(`The URL ${problem}.`);
    const url = new URL(sent.url);
    const isExcepted = isAllowedHost(url, sent.rules);
    const pair = isExcepted ? agents.excepted : agents.checked;
    return await send(method, sent, url, pair, isExcepted ? {} : { lookup: publicLookup });
  };
  return {
    post: (sent) => guarded('POST', sent),
    put: (sent) => guarded('PUT', sent),
    close() {
      for (const { http, https } of Object.values(agents)) {
        http.destroy();
        https.destroy();
      }
    },
  };
}

function send(
  method: 'POST' | 'PUT',
  { headers, body, timeoutMs = TIMEOUT_MS }: OutboundRequest,
  url: URL,
  agents: { readonly http: HttpAgent; readonly https: HttpsAgent },
  how: { readonly lookup?: LookupFunction },
): Promise<OutboundAnswer> {
  const isSecure = url.protocol === 'https:';
  const bytes = Buffer.from(body);
  const options = { method, headers: { ...headers, 'content-length': bytes.length }, ...how };
  return new Promise((answer, fail) => {
    const request = isSecure
      ? httpsRequest(url, { ...options, agent: agents.https })
      : httpRequest(url, { ...options, agent: agents.http });
    // An abort signal and an iterator over the body cost 0.05 ms of CPU time, a third of the whole request.
    const timer = setTimeout(() => {
      fail(new Error(`no answer within ${timeoutMs / 1000} s`));
      request.destroy();
    }, timeoutMs);
    const failed = (error: Error): void => {
      clearTimeout(timer);
      fail(error);
    };
    request.on('error', failed);
    request.on('response', (response) => {
      readStart(
        response,
        (text) => {
          clearTimeout(timer);
          answer({ status: response.statusCode!, headers: headersOf(response), body: text });
        },
        failed,
      );
    });
    request.end(bytes);
  });
}

/** The first bytes of the body; the rest is read up to a limit, so that the connection can be used again. */
function readStart(
  response: IncomingMessage,
  answer: (text: string) => void,
  fail: (error: Error) => void,
): void {
  const kept: Buffer[] = [];
  let length = 0;
  // Postgres text cannot hold the character 0.
  const end = (): void =>
    answer(Buffer.concat(kept).toString('utf8').replaceAll('\u0000', '\uFFFD'));
  response.on('data', (chunk: Buffer) => {
    if (length < BODY_BYTES_KEPT) kept.push(chunk.subarray(0, BODY_BYTES_KEPT - length));
    length += chunk.length;
    if (length <= BODY_BYTES_MAX) return;
    end();
    response.destroy();
  });
  response.on('end', end);
  response.on('error', fail);
}

const HEADERS_MAX = 50;

const headersOf = (response: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(response.headers)
      .slice(0, HEADERS_MAX)
      .map(([name, value]) => [name, String(value).slice(0, 1_000)]),
  );

/** Resolves a name and passes on its addresses only if all of them are public. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const refused = addresses?.find(({ address }) => !isPublicAddress(address));
    if (error !== null) return callback(error, '', 0);
    if (addresses.length === 0) return callback(new Error(`${hostname} has no address`), '', 0);
    if (refused !== undefined)
      return callback(
        new AddressRefused(`${hostname} resolves to an address that is not public`),
        '',
        0,
      );
    if (options.all === true) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first!.address, first!.family);
  });
};
