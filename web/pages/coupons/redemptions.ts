import type { ApiRecord } from '../../client/api.ts';

/** `3 of 10`, or `3` without a limit. */
export function redemptionsOf({
  total_redemptions: made,
  max_redemptions: most,
}: ApiRecord<'Coupon'>): string {
  const count = made.toLocaleString('en-US');
  return most === null ? count : `${count} of ${most.toLocaleString('en-US')}`;
}
