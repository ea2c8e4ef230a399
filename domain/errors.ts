/**
 * A refusal: the request is understood and must not be done. `kind` is the class of the answer;
 * `platform/http/error-handler.ts` alone maps it to a status. `code` is stable and machine readable.
 * `message` is for a person. Named factories next to the refusing rule create it.
 */
export class BillingError extends Error {
  readonly kind: RefusalKind;
  readonly code: string;
  /** At most `DETAILS_MAX`. */
  readonly details: readonly ErrorDetail[];
  /** Number of problems found, including those not in `details`. */
  readonly error_count: number;
  /** Seconds to wait before a retry; null when unknown. */
  readonly retryAfterSeconds: number | null;

  /** `errorCount`: set when the caller found more problems than it collected. */
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
 * Maximum number of problems in one answer. An answer must not be many times larger than its request, so it
 * also repeats little of what was sent.
 */
export const DETAILS_MAX = 100;
const PATH_LENGTH_MAX = 500;
const MESSAGE_LENGTH_MAX = 4_000;

/** The text, or its first `lengthMax` characters and `…` if it is longer. */
export const cut = (text: string, lengthMax: number): string =>
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

/** One problem with one field. `path` is written as the client sent it, for example `tiers[1].up_to`. */
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

/** 404 `not_found`; the same message whether the object is missing or belongs to another scope. */
export const notFound = (noun: string, id: string): BillingError =>
  new BillingError('not_found', 'not_found', `${noun} ${id} was not found.`);

/** 404 for an event that is not stored: it may have been accepted a moment ago. */
export const eventNotFound = (eventId: string): BillingError =>
  new BillingError(
    'not_found',
    'not_found',
    `Event ${eventId} was not found. An accepted event is stored within seconds; repeat the request then.`,
  );

/** 409 `already_exists` for a key that is taken among the published records of the scope. */
export const alreadyExists = (noun: string, field: string, value: string): BillingError =>
  new BillingError(
    'conflict',
    'already_exists',
    `${/^[aeio]/.test(noun) ? 'An' : 'A'} ${noun} with ${field} "${value}" exists already.`,
    [{ path: field, code: 'already_exists', message: `"${value}" is taken` }],
  );
