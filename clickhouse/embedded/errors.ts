/** An exception with ClickHouse's own text, or one of ours in the same form. */
export class QueryFailed extends Error {
  readonly code: number;
  readonly httpStatus: number | undefined;
  /** The process cannot go on. */
  readonly isFatal: boolean;

  constructor(
    code: number,
    message: string,
    { httpStatus, isFatal = false }: { httpStatus?: number; isFatal?: boolean } = {},
  ) {
    super(message);
    this.name = 'QueryFailed';
    this.code = code;
    this.httpStatus = httpStatus;
    this.isFatal = isFatal;
  }
}

export const tooManyQueries = (): QueryFailed =>
  refused(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many queries are waiting for a session', 503);

export const bodyTooLarge = (limit: number): QueryFailed =>
  refused(191, 'REQUEST_TOO_LARGE', `The request is larger than ${limit} bytes`, 413);

export const notServed = (what: string): QueryFailed =>
  refused(48, 'NOT_IMPLEMENTED', `${what} is not served by the embedded server`, 501);

export const badRequest = (what: string): QueryFailed => refused(36, 'BAD_ARGUMENTS', what, 400);

export const readOnly = (): QueryFailed =>
  refused(164, 'READONLY', 'Cannot execute query in readonly mode: use POST', 403);

export const wrongPassword = (): QueryFailed =>
  refused(516, 'AUTHENTICATION_FAILED', 'Authentication failed: password is incorrect', 403);

function refused(code: number, name: string, message: string, httpStatus: number): QueryFailed {
  return new QueryFailed(code, `Code: ${code}. DB::Exception: ${message}. (${name})`, {
    httpStatus,
  });
}

/** After this error the engine has ended permanently. */
const ENGINE_IS_SHUTTING_DOWN = 236;

/** Whether the process must be restarted after this error. */
export function isFatal(failure: QueryFailed): boolean {
  return (
    failure.isFatal ||
    failure.code === ENGINE_IS_SHUTTING_DOWN ||
    /fatal error/i.test(failure.message)
  );
}

/** The driver's errors contain the engine's text, which begins with `Code: N.` */
export function queryFailure(error: unknown): QueryFailed {
  if (error instanceof QueryFailed) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = /Code: (\d+)/.exec(message)?.[1];
  if (code !== undefined) return new QueryFailed(Number(code), message);
  return new QueryFailed(1001, `Code: 1001. DB::Exception: ${message}. (STD_EXCEPTION)`);
}

// HTTP statuses that ClickHouse's own handler gives to these codes; all others are 500.
const STATUS_OF_CODE: Readonly<Record<number, number>> = {
  6: 400, 26: 400, 27: 400, 36: 400, 38: 400, 41: 400, 44: 400, 53: 400, 62: 400, 72: 400,
  115: 404, 46: 404, 47: 404, 60: 404, 63: 404, 81: 404, 158: 413, 159: 408, 160: 417, 164: 403,
  202: 429, 241: 500, 396: 413, 456: 400, 497: 403, 516: 403,
}; // prettier-ignore

export function httpStatus(failure: QueryFailed): number {
  return failure.httpStatus ?? STATUS_OF_CODE[failure.code] ?? 500;
}
