/**
 * A refusal: the request is understood and must not be done. The kind says what class of answer it
 * is (one place, `platform/http/error-handler.ts`, turns it into a status), the code is stable and
 * machine readable, the message is for a person. Made by named factories beside the rule that refuses.
 */
export class BillingError extends Error {
  readonly kind: RefusalKind;
  readonly code: string;
  /** At most `DETAILS_MAX`. */
  readonly details: readonly ErrorDetail[];
  /** Problems found, named in `details` or not. */
  readonly error_count: number;
  /** When it is worth trying again; null where nothing is known. */
  readonly retryAfterSeconds: number | null;

  /** `errorCount`: where the caller counted further than it collected. */
  constructor(
    kind: RefusalKind,
    code: string,
    message: string,
    details: readonly ErrorDetail[] = [],
    errorCount = details.length,
    retryAfterSeconds: number | null = null,
  ) {
    super(cut(message, MESSAGE_LENGTH_MAX));
    this.name = 'BillingError';
    this.kind = kind;
    this.code = code;
    this.details = details.slice(0, DETAILS_MAX).map((detail) => ({
      ...detail,
      path: cut(detail.path, PATH_LENGTH_MAX),
      message: cut(detail.message, MESSAGE_LENGTH_MAX),
    }));
    this.error_count = errorCount;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * An answer names this many problems, however many a request has, and repeats little of what was sent:
 * it must not be many times larger than the request.
 */
export const DETAILS_MAX = 100;
const PATH_LENGTH_MAX = 500;
const MESSAGE_LENGTH_MAX = 4_000;

const cut = (text: string, lengthMax: number): string =>
  text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;

export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'precondition_failed'
  | 'too_large'
  | 'rate_limited'
  | 'unavailable';

/** One problem of one field. `path` is written as the client sent it, for example `tiers[1].up_to`. */
export interface ErrorDetail {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** 400 `validation_error` with the field, what is wrong with it, and what would be right. */
export const invalidField = (path: string, message: string): BillingError =>
  new BillingError('invalid', 'validation_error', `${path}: ${message}`, [
    { path, code: 'invalid_value', message },
  ]);

/**
 * 400 `invalid_operation`: the body is well formed, but the object's state forbids the call. `path` is
 * the field whose value forbids it.
 */
export const invalidOperation = (message: string, path?: string): BillingError =>
  new BillingError(
    'invalid',
    'invalid_operation',
    message,
    path === undefined ? [] : [{ path, code: 'invalid_state', message }],
  );

/** 404 `not_found`, worded alike whether the object is missing or another scope's. */
export const notFound = (noun: string, id: string): BillingError =>
  new BillingError('not_found', 'not_found', `${noun} ${id} was not found.`);

/** 409 `already_exists` for a key that is taken among the published records of the scope. */
export const alreadyExists = (noun: string, field: string, value: string): BillingError =>
  new BillingError(
    'conflict',
    'already_exists',
    `${/^[aeio]/.test(noun) ? 'An' : 'A'} ${noun} with ${field} "${value}" exists already.`,
    [{ path: field, code: 'already_exists', message: `"${value}" is taken` }],
  );
