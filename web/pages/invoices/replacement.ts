import { isZero } from '../../app/billing/zero.ts';
import type { ApiRecord } from '../../client/api.ts';

/** What becomes of the money of an invoice that a draft replaces, and what is left to do. */
export function replacementInWords({ amount_paid }: ApiRecord<'Invoice'>): string {
  const payments = isZero(amount_paid) ? '' : 'What was paid counts for the draft. ';
  return `${payments}The draft is not issued until you finalize it.`;
}
