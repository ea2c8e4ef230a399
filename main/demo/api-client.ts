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
  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    for (const began = performance.now(); ; await sleep(RETRY_MS)) {
      const response = await fetch(`${baseUrl}/v1${path}`, {
        method,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
        signal: AbortSignal.timeout(UNAVAILABLE_MS_MAX),
      });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as Answer;
      const isRepeatable =
        REPEATABLE.has(response.status) || isVersionConflict(response.status, text);
      if (!isRepeatable || performance.now() - began > UNAVAILABLE_MS_MAX)
        throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    }
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
  };
}
