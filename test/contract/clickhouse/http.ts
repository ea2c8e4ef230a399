export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly exceptionCode: string | null;
}

/** ClickHouse's HTTP interface without a driver in between. */
export function rawHttp(url: string) {
  const target = new URL(url);
  const authorization = `Basic ${btoa(`${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`)}`;
  const database = target.pathname.slice(1);
  return async (
    parameters: Readonly<Record<string, string>>,
    body?: string | Buffer,
    init: { method?: string; headers?: Record<string, string>; path?: string } = {},
  ): Promise<HttpAnswer> => {
    const query = new URLSearchParams(database === '' ? parameters : { database, ...parameters });
    const response = await fetch(`${target.origin}${init.path ?? '/'}?${query}`, {
      method: init.method ?? 'POST',
      headers: { authorization, ...init.headers },
      ...(body === undefined ? {} : { body }),
    });
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      exceptionCode: response.headers.get('x-clickhouse-exception-code'),
    };
  };
}
