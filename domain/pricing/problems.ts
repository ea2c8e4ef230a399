import { BillingError, type ErrorDetail } from '../errors.ts';
import { parseDecimal, type Decimal } from '../money.ts';

/** Collects all problems of a definition, so that a client can fix them in one pass. */
export interface Problems {
  /** `path` of the field as the client wrote it, a stable `code`, and a message with the valid value. */
  add(path: string, code: string, message: string): void;
  /** Throws one 400 `validation_error` with every problem as a detail. Does nothing without problems. */
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

/** Parses a client's number. Adds a problem and returns null if it is not a number. */
export function readDecimal(input: string | number, path: string, found: Problems): Decimal | null {
  try {
    return parseDecimal(input, path);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    for (const detail of error.details) found.add(detail.path, 'invalid_decimal', detail.message);
    return null;
  }
}
