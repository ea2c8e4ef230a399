import { cents } from './cents.ts';
import type { Desk } from './desk.ts';
import { rowsOfPeriod } from './expected-charge.ts';
import type { Invoice } from './records.ts';

/** Usage of a time that has passed comes late; nothing is billed for it by itself (billing 17.6). */
export async function lateUsage(desk: Desk): Promise<void> {
  const { business, customer, random } = desk;
  const span = 60 * 86_400_000;
  const at = new Date(Date.parse(desk.now) - random.below(span)).toISOString();
  if (!customer.subscriptions.some(({ start }) => start <= at)) return;
  const units = 1 + random.below(60);
  await business.world.usage.use(business.meter, customer, at, String(units));
  customer.usage.push({ at, units });
  business.count('late usage');
}

/** Charges or credits the late usage of an issued invoice; each settlement only what earlier ones did not. */
export async function settleLateUsage(desk: Desk, row: any): Promise<void> {
  const { customer, ledger, random } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const subscription = customer.subscriptions.find(({ id }) => id === row.subscription_id);
  const isOfPeriod = row.billing_reason !== 'SUBSCRIPTION_UPDATE';
  if (subscription === undefined || !isOfPeriod || invoice.isWritten) return;
  const isCharge = random.chance(0.7);
  const due = new Map<string, number>();
  const today = rowsOfPeriod(subscription, customer.usage, row);
  const billed = new Map([...today.keys()].map((from) => [from, invoice.rows.get(from) ?? 0]));
  const before = ledger.usageNets(subscription, invoice, billed, row);
  for (const [from, amount] of ledger.usageNets(subscription, invoice, today, row)) {
    const difference = amount - before.get(from)! - settledOf(invoice, from);
    if (isCharge ? difference > 0 : difference < 0) due.set(from, difference);
  }
  const sum = [...due.values()].reduce((total, amount) => total + amount, 0);
  const body = await desk.command(
    `settle by ${isCharge ? 'invoice' : 'note'}`,
    `/invoices/${row.id}/late-usage/settle`,
    {
      as: isCharge ? 'invoice' : 'credit_note',
    },
  );
  if (body === null) return;
  if (cents(body.amount) !== sum)
    throw new Error(`${row.id} was settled with ${body.amount}: ${JSON.stringify([...due])}`);
  let holds = () => true;
  if (isCharge) {
    const charge = ledger.invoiceOf(body.invoice.id, customer);
    ledger.issue(charge, { usage: sum, net: sum, taxes: invoice.taxes }, desk.now);
    holds = () => !charge.isVoid;
  } else bookNote(desk, invoice, body.credit_note);
  invoice.settlements.push({ rows: due, isCharge, holds });
}

function bookNote(desk: Desk, invoice: Invoice, note: any): void {
  const amount = cents(note.total_amount);
  for (const { invoice_line_item_id: id, amount: part } of note.line_items) {
    const key = id ?? 'tax';
    invoice.credited.set(key, (invoice.credited.get(key) ?? 0) + cents(part));
  }
  if (note.credit_note_type === 'REFUND') desk.ledger.returnMoney(invoice, amount, false);
  else invoice.adjusted += amount;
}

const settledOf = ({ settlements }: Invoice, from: string): number =>
  settlements.reduce((sum, { rows, holds }) => sum + (holds() ? (rows.get(from) ?? 0) : 0), 0);

/** An invoice whose late usage is charged cannot be voided or replaced before that charge is void (billing 17.6). */
export function assertNotCharged({ id, settlements }: Invoice): void {
  if (settlements.some(({ isCharge, holds }) => isCharge && holds()))
    throw new Error(`the invoice ${id} ended while the charge for its late usage stands`);
}
