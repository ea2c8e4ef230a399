import { DETAILS_MAX } from '../../domain/errors.ts';

/** Whether the body is the one that every answer from 400 on has, with no more details than are allowed. */
export function isErrorBody(body: unknown, status: number): boolean {
  const given = (body ?? {}) as Record<string, unknown>;
  return (
    given['success'] === false &&
    given['http_status_code'] === status &&
    typeof given['code'] === 'string' &&
    typeof given['message'] === 'string' &&
    Array.isArray(given['details']) &&
    given['details'].length <= DETAILS_MAX &&
    typeof given['error_count'] === 'number' &&
    given['error_count'] >= given['details'].length &&
    typeof given['request_id'] === 'string'
  );
}
