/** Calls to a running Meterline, the way any client makes them. */
export interface ApiClient {
  get<Answer>(path: string): Promise<Answer>;
  post<Answer>(path: string, body: unknown): Promise<Answer>;
}

export function createApiClient(baseUrl: string, apiKey: string): ApiClient {
  const call = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${baseUrl}/v1${path}`, {
      method,
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as Answer;
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
  };
}
