import type { ErrorDetail } from '../../domain/errors.ts';

/** The body of every answer with status 400 or above: a superset of all shapes that existing clients read. */
export interface ErrorBody {
  readonly success: false;
  readonly error: { readonly message: string; readonly internal_error: null };
  readonly code: string;
  readonly http_status_code: number;
  readonly message: string;
  /** At most 100. */
  readonly details: readonly ErrorDetail[];
  /** Number of problems found, including those beyond `details`. */
  readonly error_count: number;
  readonly request_id: string;
}

export function errorBody(
  status: number,
  code: string,
  message: string,
  details: readonly ErrorDetail[],
  requestId: string,
  errorCount = details.length,
): ErrorBody {
  return {
    success: false,
    error: { message, internal_error: null },
    code,
    http_status_code: status,
    message,
    details,
    error_count: errorCount,
    request_id: requestId,
  };
}
