import { BillingError } from '../../../domain/errors.ts';

/** A question that is well formed, but about more than one call may look at. */
export const usageQuestionTooLarge = (message: string): BillingError =>
  new BillingError('invalid', 'usage_query_too_large', message);
