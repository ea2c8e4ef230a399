import { Flexprice, HTTPClient } from '@flexprice/sdk';
import { ResponseValidationError, SDKError } from '@flexprice/sdk/sdk/models';
import type { FastifyInstance } from 'fastify';
import { operationOf, type OperationName } from './sdk-operations.ts';

const PREFIX = '/v1';

/** One call below the prefix, and its JSON answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly body: string;
}

/** The typed client, talking to servers in this process, and the outcomes of its calls. */
export interface Walker {
  readonly sdk: Flexprice;
  readonly called: ReadonlySet<OperationName>;
  readonly calls: number;
  /** What the client could not decode, one line per call. */
  readonly undecoded: readonly string[];
  /** Every JSON answer. */
  readonly exchanges: readonly Exchange[];
  /**
   * The client's answer. A refusal fails; an answer that does not decode is noted and is null, as is
   * the answer of an operation that is not served.
   */
  walk<Answer>(
    operation: OperationName,
    call: (sdk: Flexprice) => Promise<Answer>,
  ): Promise<Answer>;
}

export function createWalker(options: {
  readonly key: string;
  readonly operations: readonly OperationName[];
  readonly served: ReadonlySet<OperationName>;
  serverOf(operation: OperationName): FastifyInstance;
}): Walker {
  const called = new Set<OperationName>();
  const undecoded: string[] = [];
  const exchanges: Exchange[] = [];
  let calls = 0;
  let last = '';
  const sdk = new Flexprice({
    serverURL: `http://product.test${PREFIX}`,
    apiKeyAuth: options.key,
    httpClient: new HTTPClient({
      fetcher: async (input, init) => {
        const request = new Request(input, init);
        const { pathname, search } = new URL(request.url);
        const path = pathname.slice(PREFIX.length);
        const operation = operationOf(options.operations, request.method, path);
        if (operation === null) throw new Error(`no operation: ${request.method} ${path}`);
        calls += 1;
        last = operation;
        called.add(operation);
        const answer = await inject(options.serverOf(operation), request, pathname + search);
        if (isJson(answer)) {
          const { status } = answer;
          const body = await answer.clone().text();
          exchanges.push({ method: request.method, path, status, body });
        }
        return answer;
      },
    }),
  });
  return {
    sdk,
    called,
    undecoded,
    exchanges,
    get calls() {
      return calls;
    },
    async walk(operation, call) {
      if (!options.served.has(operation)) return null as never;
      last = '';
      try {
        const answer = await call(sdk);
        if (last !== operation) throw new Error(`${operation} was to be called, not ${last}`);
        return answer;
      } catch (error) {
        const isDecoding =
          error instanceof ResponseValidationError ||
          (error instanceof SDKError && error.statusCode < 300);
        if (!isDecoding) throw new Error(`${operation}: ${describe(error)}`, { cause: error });
        undecoded.push(`${operation}: ${describe(error)}`);
        return null as never;
      }
    },
  };
}

const isJson = (answer: Response): boolean =>
  answer.headers.get('content-type')?.startsWith('application/json') ?? false;

const describe = (error: unknown): string => {
  if (error instanceof ResponseValidationError) return error.pretty().slice(0, 1_500);
  if (error instanceof SDKError) return `${error.statusCode} ${error.body}`.slice(0, 1_500);
  return String(error).slice(0, 1_500);
};

async function inject(server: FastifyInstance, request: Request, url: string): Promise<Response> {
  const body = await request.text();
  const answer = await server.inject({
    method: request.method as 'GET',
    url,
    headers: Object.fromEntries(request.headers),
    ...(body === '' ? {} : { payload: body }),
  });
  const headers = Object.entries(answer.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  return new Response(answer.body === '' ? null : answer.body, {
    status: answer.statusCode,
    headers,
  });
}
