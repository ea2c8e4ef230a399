import type { ErrorDetail } from '../../domain/errors.ts';

/** The body of every answer from 400 on: a superset of all shapes that existing clients can read. */
export interface ErrorBody {
  readonly success: false;
  readonly error: { readonly message: string; readonly internal_error: null };
  readonly code: string;
  readonly http_status_code: number;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
  readonly request_id: string;
}

export function errorBody(
  status: number,
  code: string,
  message: string,
  details: readonly ErrorDetail[],
  requestId: string,
): ErrorBody {
  return {
    success: false,
    error: { message, internal_error: null },
    code,
    http_status_code: status,
    message,
    details,
    request_id: requestId,
  };
}
