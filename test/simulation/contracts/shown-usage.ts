import { Decimal, sum } from '../../../domain/money.ts';
import type { BillingWorld } from '../../support/billing-world.ts';
import type { Contract } from './contract.ts';
import type { Note } from './contract-steps.ts';
import { invoicesOf } from './found-invoices.ts';
import { ok } from './sell-offer.ts';

/** Windows of the points that are asked for; invoices take turns. */
const WINDOWS = ['DAY', 'HOUR', 'WEEK', 'MONTH'] as const;

/**
 * Notes how usage analytics of the time of an invoice differ from its usage rows: the cost of each line, the sum of its
 * points, and the events of its groups (money 19.10). Invoices in another currency than their subscription are not
 * compared.
 */
export async function compareAnalytics(
  world: BillingWorld,
  contract: Contract,
  { external_id }: { external_id: string },
  subscription: { id: string },
  note: Note,
): Promise<void> {
  for (const [number, invoice] of (await invoicesOf(world, subscription)).entries()) {
    const rows = (invoice.line_items as any[]).filter(({ price_type }) => price_type === 'USAGE');
    const isPeriod = invoice.billing_reason === 'SUBSCRIPTION_CYCLE';
    const isSettled = rows.some(({ custom_currency }) => custom_currency !== null);
    if (!isPeriod || invoice.invoice_status === 'VOIDED' || isSettled) continue;
    for (const line of new Set(rows.map((row) => row.subscription_line_item_id))) {
      const own = rows.filter((row) => row.subscription_line_item_id === line);
      const starts = [invoice, ...own].map(({ period_start }) => period_start).sort();
      const ends = [invoice, ...own].map(({ period_end }) => period_end).sort();
      const asked = {
        external_customer_id: external_id,
        ...{ start_time: starts[0], end_time: ends.at(-1) },
      };
      const ask = async (more: object) =>
        ((await ok(world, '/events/analytics', { ...asked, ...more })).items as any[]).filter(
          ({ sub_line_item_id }) => sub_line_item_id === line,
        );
      const [item] = await ask({ window_size: WINDOWS[number % WINDOWS.length] });
      const what = `analytics of ${own[0].display_name} from ${starts[0]}`;
      noteLine(what, contract, own, item, note);
      const groups = await ask({ group_by: ['source'] });
      note(
        `${what}: events`,
        [String(item?.event_count ?? 0)],
        [String(groups.reduce((count, group) => count + group.event_count, 0))],
      );
    }
  }
}

/**
 * Notes how the usage that lowers the balance of the customer's wallet differs from the usage rows of the invoice that
 * the running period would have now, less their discounts (money 2.8, 19.10). No contract has a coupon that is used
 * once, which would lower the invoice only, as an amount off usage does.
 */
export async function compareBalance(
  world: BillingWorld,
  contract: Contract,
  { customer_id }: { customer_id: string },
  invoice: any,
  note: Note,
): Promise<void> {
  const { isDelegated, lineOff, services } = contract;
  const isLessOnInvoice =
    lineOff?.amount !== undefined && services.some(({ name }) => name === lineOff.line);
  if (isDelegated || isLessOnInvoice) return;
  const { body: wallets } = await world.api.get(`/v1/customers/${customer_id}/wallets`);
  const wallet = wallets.find(
    ({ wallet_type, wallet_status, currency }: any) =>
      wallet_type === 'PRE_PAID' && wallet_status === 'active' && currency === invoice.currency,
  );
  if (wallet === undefined) return;
  const { body } = await world.api.get(`/v1/wallets/${wallet.id}/balance/real-time`);
  const claim = new Decimal(body.current_period_usage).minus(body.unpaid_invoices_amount);
  const rows = (invoice.line_items as any[]).filter(
    ({ price_type, kind }) => price_type === 'USAGE' || kind === 'true_up',
  );
  // The unused commitment of a subscription that sells no usage is on its invoice only.
  if (rows.every(({ price_type }) => price_type !== 'USAGE')) return;
  const total = sum(rows.map(netOf));
  if (isFar(total, claim, 2 * rows.length + 1, contract))
    note(
      `balance in the period from ${invoice.period_start}`,
      [total.toFixed()],
      [claim.toFixed()],
    );
}

/** What a row charges after its discounts. */
const netOf = ({ amount, line_item_discount, invoice_level_discount }: any): Decimal =>
  new Decimal(amount).minus(line_item_discount).minus(invoice_level_discount);

/** Charge periods that one row of a grouped contract may add up, each rounded: the days of a month. */
const GROUPED_MAX = 31;

/** Whether figures differ by more than the rounding of so many rows to the currency. */
function isFar(
  one: Decimal,
  other: Decimal,
  rows: number,
  { currency, grouped }: Pick<Contract, 'currency' | 'grouped'>,
): boolean {
  const half = new Decimal(currency === 'jpy' ? '0.51' : '0.0051');
  const rounded = grouped ? rows * GROUPED_MAX : rows;
  return one.minus(other).abs().gt(half.times(rounded));
}

/** Rows are rounded to the currency, one by one; analytics are not. A line without events and cost is left out. */
function noteLine(
  what: string,
  contract: Contract,
  rows: readonly any[],
  item: any,
  note: Note,
): void {
  const total = sum(rows.map(({ amount }) => new Decimal(amount)));
  const shown = new Decimal(item?.subtotal ?? 0);
  if (isFar(total, shown, rows.length, contract))
    note(what, [total.toFixed()], [item === undefined ? 'no item' : shown.toFixed()]);
  if (item === undefined || item.event_count === 0 || item.points === null) return;
  const points: Decimal = sum(item.points.map(({ subtotal }: any) => new Decimal(subtotal)));
  if (points.minus(shown).abs().gt('1e-9'))
    note(`${what}: points`, [shown.toFixed()], [points.toFixed()]);
}
