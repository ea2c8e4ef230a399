import { BillingError } from '../../domain/errors.ts';

const HEADER_LENGTH_MAX = 1024;

/**
 * The value of `X-Ignored-Fields`: fields that were sent but are not read. Without it, a misspelt optional
 * field would be lost silently. Throws 400 `unknown_field` if the client prefers strictness.
 */
export function ignoredFields(
  paths: readonly string[],
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string {
  if (/\bhandling=strict\b/i.test(String(headers['prefer'] ?? ''))) {
    const details = paths.map((path) => ({
      path,
      code: 'unknown_field',
      message: 'is not a field of this request',
    }));
    const message = `Unknown fields: ${paths.slice(0, 20).join(', ')}`;
    throw new BillingError('invalid', 'unknown_field', message, details);
  }
  const names = paths.map((path) => encodeURI(path.replace(/\p{Surrogate}/gu, '\ufffd')));
  return names.join(', ').slice(0, HEADER_LENGTH_MAX);
}
