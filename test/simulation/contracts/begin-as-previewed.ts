import type { BillingWorld } from '../../support/billing-world.ts';
import { invoicesOf } from './found-invoices.ts';
import { beside, type Facts } from './invoice-facts.ts';
import { factsIn } from './preview-facts.ts';
import { ok } from './sell-offer.ts';

/** The subscription that the preview takes back, and its own prices, have other ids. */
const ID = /_01[0-9A-HJKMNP-TV-Z]{24}/g;

/**
 * Creates or activates a subscription whose start is not after now. Throws if its opening invoice, or the preview of
 * its first period, is not what the preview of the start says (billing 10.6).
 */
export async function beginAsPreviewed(
  world: BillingWorld,
  path: string,
  body: object,
): Promise<any> {
  const preview = await ok(world, `${path}/preview`, body);
  const subscription = await ok(world, path, body);
  const issued = (await invoicesOf(world, subscription)).filter(
    ({ invoice_status }) => invoice_status !== 'SKIPPED',
  );
  const closing = await ok(world, '/invoices/preview', { subscription_id: subscription.id });
  const factsOf = (opening: readonly any[], next: any): Facts =>
    [...opening.map((one) => factsIn(one, 'opening')), factsIn(next, 'closing')]
      .flat()
      .map((fact) => fact.replace(ID, '…'));
  const expected = factsOf(issued, closing);
  const { opening_invoice: opening, closing_invoice } = preview;
  const found = factsOf(opening === null ? [] : [opening], closing_invoice);
  const [missing, extra] = [beside(expected, found), beside(found, expected)];
  if (missing.length + extra.length > 0)
    throw new Error(`preview of the start: ${JSON.stringify({ missing, extra })}`);
  return subscription;
}
