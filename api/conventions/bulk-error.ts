import { BillingError } from '../../domain/errors.ts';

/** The same refusal with the paths of a body that the API puts below `field`: `auto_topup.amount` is `amount`. */
export function above(error: unknown, field: string): unknown {
  if (!(error instanceof BillingError)) return error;
  const own = (text: string) =>
    text.startsWith(`${field}.`) ? text.slice(field.length + 1) : text;
  const details = error.details.map((detail) => ({ ...detail, path: own(detail.path) }));
  const { kind, code, error_count, retryAfterSeconds } = error;
  return new BillingError(kind, code, own(error.message), details, error_count, retryAfterSeconds);
}

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
  const { kind, code, retryAfterSeconds } = error;
  const count = Math.max(error.error_count, details.length);
  return new BillingError(kind, code, message, details, count, retryAfterSeconds);
}
