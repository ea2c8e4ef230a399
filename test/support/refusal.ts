import { BillingError } from '../../domain/errors.ts';

/** The refusal that an action ends in; an action that is not refused, or fails otherwise, fails the test. */
export function refusalOf(action: () => unknown): BillingError {
  try {
    action();
  } catch (error) {
    if (error instanceof BillingError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

/** `kind code path/detail code` of a refusal, for tables. */
export function refusalText(action: () => unknown): string {
  const { kind, code, details } = refusalOf(action);
  const [detail] = details;
  return [kind, code, ...(detail ? [detail.path] : [])].join(' ');
}
