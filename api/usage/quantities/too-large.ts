import { BillingError } from '../../../domain/errors.ts';

/** Refuses a valid query that exceeds what one call may read. */
export const usageQuestionTooLarge = (message: string): BillingError =>
  new BillingError('invalid', 'usage_query_too_large', message);
