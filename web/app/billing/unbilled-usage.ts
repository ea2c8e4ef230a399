import { minus } from './amounts.ts';

/**
 * What the running periods have used of a wallet so far. The API's `current_period_usage` has the unpaid invoices
 * in it, which are a figure of their own: the balance less both is the projected balance (money 2.8).
 */
export const unbilledUsage = ({
  current_period_usage,
  unpaid_invoices_amount,
}: {
  readonly current_period_usage: string;
  readonly unpaid_invoices_amount: string;
}): string => minus(current_period_usage, unpaid_invoices_amount);
