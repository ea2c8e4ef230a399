import { BillingError } from '../../domain/errors.ts';

/** The same refusal with paths below the item of a bulk call: `items[2].amount`. */
export function below(error: unknown, path: string): unknown {
  if (!(error instanceof BillingError)) return error;
  const details =
    error.details.length === 0
      ? [{ path, code: error.code, message: error.message }]
      : error.details.map((detail) => ({ ...detail, path: `${path}.${detail.path}` }));
  const [first] = error.details;
  const isNamed = first !== undefined && error.message.startsWith(`${first.path}: `);
  const message = `${path}${isNamed ? '.' : ': '}${error.message}`;
  return new BillingError(
    error.kind,
    error.code,
    message,
    details,
    Math.max(error.error_count, details.length),
  );
}
