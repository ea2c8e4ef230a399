import type { RunningGrant } from '../../../domain/wallet/grant-schedule.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';

/** A grant of a subscription with the fields that decide its periods. */
export const runningGrant = (
  grant: CreditGrant,
  { customer_timezone }: Pick<SubscriptionRow, 'customer_timezone'>,
): CreditGrant & RunningGrant => ({
  ...grant,
  start_date: grant.start_date!,
  credit_grant_anchor: grant.credit_grant_anchor ?? grant.start_date!,
  timezone: customer_timezone,
});
