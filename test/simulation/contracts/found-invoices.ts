import { Decimal } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import type { Bill, Reason } from './contract.ts';
import { iso } from './naive-calendar.ts';
import { ok } from './sell-offer.ts';
import type { Signed } from './sign-contract.ts';

/** The invoice of a bill: that of its period, or the next one of its reason. */
export function billed(invoices: readonly any[], bill: Bill, earlier: readonly Bill[]): any {
  // Several of one instant are in the order in which they were made: the list is newest first.
  const ofReason = invoices
    .toReversed()
    .filter(({ billing_reason }) => billing_reason === bill.reason)
    .sort((left, right) => Date.parse(left.created_at) - Date.parse(right.created_at));
  if (bill.reason !== 'SUBSCRIPTION_CYCLE') {
    // A change that charges nothing makes no invoice.
    const isMade = ({ reason, rows }: Bill) => reason !== 'SUBSCRIPTION_UPDATE' || rows.length > 0;
    const before = earlier.filter((one) => one.reason === bill.reason && isMade(one));
    return isMade(bill) ? (ofReason[before.length] ?? null) : null;
  }
  return ofReason.find(({ period_start }) => period_start === iso(bill.period.start)) ?? null;
}

export async function invoicesOf(world: BillingWorld, { id }: { id: string }): Promise<any[]> {
  const found = await ok(world, '/invoices/search', { subscription_id: id, limit: 1000 });
  return found.items;
}

/** Money in the wallets of the customers of a contract. */
export async function balanceOf(
  world: BillingWorld,
  { customer, others }: Signed,
): Promise<string> {
  let sum = new Decimal(0);
  for (const { id } of [customer, ...others]) {
    const { body } = await world.api.get(`/v1/customers/${id}/wallets`);
    for (const { balance } of body) sum = sum.plus(balance);
  }
  return sum.toFixed();
}

export async function invoiceOf(
  world: BillingWorld,
  of: { id: string },
  reason: Reason,
  start: number,
): Promise<any> {
  const invoices = await invoicesOf(world, of);
  const found = invoices.find(
    ({ period_start, billing_reason }) => period_start === iso(start) && billing_reason === reason,
  );
  return found ?? null;
}
