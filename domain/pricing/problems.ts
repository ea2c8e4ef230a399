import { BillingError, type ErrorDetail } from '../errors.ts';
import { parseDecimal, type Decimal } from '../money.ts';

/** Collects every problem of a definition, so that a client can mend all of them at once. */
export interface Problems {
  /** `path` as the client wrote the field, a stable `code`, and what would be right. */
  add(path: string, code: string, message: string): void;
  /** Throws one 400 `validation_error` with every problem as a detail, when there is any. */
  refuse(): void;
}

export function problems(): Problems {
  const found: ErrorDetail[] = [];
  return {
    add(path, code, message) {
      found.push({ path, code, message });
    },
    refuse() {
      const first = found[0];
      if (first === undefined) return;
      throw new BillingError(
        'invalid',
        'validation_error',
        `${first.path}: ${first.message}`,
        found,
      );
    },
  };
}

/** One problem as a refusal: 400 `validation_error` with the field's path and a stable code. */
export const refusal = (path: string, code: string, message: string): BillingError =>
  new BillingError('invalid', 'validation_error', `${path}: ${message}`, [{ path, code, message }]);

/** A client's number; null, with a problem noted, when it is none. */
export function readDecimal(input: string | number, path: string, found: Problems): Decimal | null {
  try {
    return parseDecimal(input, path);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    for (const detail of error.details) found.add(detail.path, 'invalid_decimal', detail.message);
    return null;
  }
}
