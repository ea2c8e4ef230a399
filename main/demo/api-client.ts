import http from 'node:http';
import https from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for a slow machine; after this time the server counts as down. */
const UNAVAILABLE_MS_MAX = 300_000;
const RETRY_MS = 250;
const REPEATABLE: ReadonlySet<number> = new Set([429, 503]);

/** The billing run changed the subscription at each attempt: a subscription of a past year is caught up. */
const isVersionConflict = (status: number, text: string): boolean =>
  status === 409 && (JSON.parse(text) as { readonly code?: string }).code === 'version_conflict';

/**
 * Calls to a running Meterline with retries: 429, 503 and a version conflict mean that nothing was done and the
 * call may be repeated, for example while a new meter is still being backfilled.
 */
export interface ApiClient {
  get<Answer>(path: string): Promise<Answer>;
  post<Answer>(path: string, body: unknown): Promise<Answer>;
  put<Answer>(path: string, body: unknown): Promise<Answer>;
}

export function createApiClient(baseUrl: string, apiKey: string): ApiClient {
  const send = senderTo(baseUrl, { 'x-api-key': apiKey, 'content-type': 'application/json' });
  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    for (const began = performance.now(); ; await sleep(RETRY_MS)) {
      const { status, text } = await send(method, `/v1${path}`, sent);
      if (status >= 200 && status < 300) return JSON.parse(text) as Answer;
      const isRepeatable = REPEATABLE.has(status) || isVersionConflict(status, text);
      if (!isRepeatable || performance.now() - began > UNAVAILABLE_MS_MAX)
        throw new Error(`${method} ${path} answered ${status}: ${text}`);
    }
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
  };
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

/**
 * Sends requests over connections that stay open. It does not use `fetch`, whose streams cost more CPU time than the
 * requests when a million events are sent.
 */
function senderTo(
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
): (method: string, path: string, body: string | undefined) => Promise<Answered> {
  const { request, Agent } = baseUrl.startsWith('https:') ? https : http;
  // A process ends although its connections are open: an idle one is not waited for.
  const agent = new Agent({ keepAlive: true });
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request(
        `${baseUrl}${path}`,
        {
          method,
          agent,
          headers:
            body === undefined
              ? headers
              : { ...headers, 'content-length': Buffer.byteLength(body) },
          signal: AbortSignal.timeout(UNAVAILABLE_MS_MAX),
        },
        (answer) =>
          void textOf(answer).then(
            (text) => resolve({ status: answer.statusCode ?? 0, text }),
            reject,
          ),
      );
      sent.once('error', reject);
      sent.end(body);
    });
}
