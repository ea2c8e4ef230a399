/**
 * A refusal: the request is understood and must not be done. The kind says what class of answer it
 * is (one place, `platform/http/error-handler.ts`, turns it into a status), the code is stable and
 * machine readable, the message is for a person. Made by named factories beside the rule that refuses.
 */
export class BillingError extends Error {
  readonly kind: RefusalKind;
  readonly code: string;
  readonly details: readonly ErrorDetail[];

  constructor(
    kind: RefusalKind,
    code: string,
    message: string,
    details: readonly ErrorDetail[] = [],
  ) {
    super(message);
    this.name = 'BillingError';
    this.kind = kind;
    this.code = code;
    this.details = details;
  }
}

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
