import { cents, money } from './cents.ts';
import type { Desk } from './desk.ts';
import { assertNotCharged } from './late-usage.ts';
import { isExempt, type Currency, type Invoice } from './records.ts';
import { couponOfOneOff } from './coupons.ts';
import { isCreditable, noteTypeOf, taxLeft, type NoteLine } from './notes.ts';
import { TAXES, type TaxTerms } from './taxes.ts';

/** Sells work; the invoice names its own taxes (billing 17.1). */
export async function oneOff(desk: Desk): Promise<void> {
  const { customer, ledger, random } = desk;
  const amounts = [1 + random.below(20_000), 1 + random.below(999)];
  const taxes = random.pick(TAXES);
  const currency = random.pick(CURRENCIES);
  const coupon = await couponOfOneOff(desk, currency, amounts);
  const what = coupon.off > 0 ? 'one-off invoice with a coupon' : 'one-off invoice';
  const body = await desk.command(what, '/invoices', {
    ...oneOffOf(customer.id, currency, amounts),
    ...coupon.body,
    tax_rate_overrides: taxes.map((tax) => taxOverride(tax, currency)),
  });
  assertRedeemed(desk, coupon.isAllowed, body);
  if (body === null) return;
  coupon.redeem();
  const invoice = ledger.invoiceOf(body.id, customer, currency);
  const { net, off } = coupon;
  ledger.issue(invoice, { usage: 0, net, off, taxes: isExempt(customer) ? [] : taxes }, desk.now);
}

/** A coupon is refused if it has no redemption left, or is in another currency. */
export function assertRedeemed({ refusal }: Desk, isAllowed: boolean, body: unknown): void {
  if ((body !== null) !== isAllowed)
    throw new Error(`a one-off invoice with a coupon: ${refusal || 'accepted'}`);
}

/** Most work is sold in the currency of the plans. */
export const CURRENCIES = ['usd', 'usd', 'usd', 'eur'] as const;

export const oneOffOf = (customer_id: string, currency: Currency, amounts: readonly number[]) => ({
  customer_id,
  invoice_type: 'ONE_OFF',
  currency,
  line_items: amounts.map((amount, index) => ({
    display_name: `Work ${index}`,
    amount: money(amount),
    quantity: '1',
  })),
});

export const taxOverride = ({ code, isInclusive }: TaxTerms, currency: Currency = 'usd') => ({
  tax_rate_code: code,
  auto_apply: true,
  currency,
  tax_behavior: isInclusive ? 'inclusive' : 'exclusive',
});

/** Credits a row, all rows, or rows with their share of the tax. */
export async function note(desk: Desk, row: any): Promise<void> {
  const { ledger, random } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const rows: any[] = row.line_items.filter((each: any) => netOf(each) > 0);
  if (rows.length === 0 || invoice.purchase !== null) return;
  const isWhole = random.chance(0.2);
  const chosen = isWhole ? rows : [random.pick(rows)];
  const lines: NoteLine[] = chosen.map((each: any) => ({
    id: each.id,
    net: netOf(each),
    amount: isWhole ? netOf(each) : 1 + random.below(netOf(each)),
    isFee: isFee(each),
  }));
  const tax = taxLeft(invoice, lines);
  // A change returns a share of the tax that is rounded by itself: the ledger has it to a cent only.
  if (tax > 0 && random.chance(0.6) && ledger.advances.left(invoice) === null)
    lines.push({ id: 'tax', net: 0, amount: random.chance(0.8) ? tax : tax + 1, isFee: false });
  const type = noteTypeOf(ledger, invoice);
  const isToSource = type === 'REFUND' && random.chance(0.3);
  const isAtOnce = random.chance(0.7);
  const body = await desk.command(`${type} note`, '/creditnotes', {
    invoice_id: row.id,
    reason: 'BILLING_ERROR',
    line_items: lines.map(({ id, amount }) => ({
      invoice_line_item_id: id,
      amount: money(amount),
    })),
    process_credit_note: isAtOnce,
    memo: `note ${desk.commands}`,
    ...(isToSource ? { refund_target: 'BACK_TO_SOURCE' } : {}),
  });
  if ((body !== null) !== isCreditable(ledger, invoice, lines, isToSource && isAtOnce))
    throw new Error(
      `${type} note of ${JSON.stringify(lines)} on ${row.id} ${row.payment_status}: ${desk.refusal || 'accepted'}`,
    );
  if (body === null) return;
  if (!isAtOnce) {
    const how = random.chance(0.7) ? 'finalize' : 'void';
    const done = await desk.command(`${how} draft note`, `/creditnotes/${body.id}/${how}`, {});
    const isAllowed = how === 'void' || isCreditable(ledger, invoice, lines, isToSource);
    if ((done !== null) !== isAllowed)
      throw new Error(`${how} of the draft note ${body.id}: ${desk.refusal || 'accepted'}`);
    if (done === null || how === 'void') return;
  }
  const amount = lines.reduce((sum, line) => sum + line.amount, 0);
  const credit = (sign: 1 | -1) => {
    for (const line of lines)
      invoice.credited.set(line.id, (invoice.credited.get(line.id) ?? 0) + sign * line.amount);
    for (const line of lines) if (line.isFee) ledger.advances.credit(invoice, sign * line.amount);
  };
  credit(1);
  if (type === 'REFUND') return ledger.returnMoney(invoice, amount, isToSource);
  invoice.adjusted += amount;
  desk.adjustments.push({
    id: body.id,
    invoice,
    undo: () => {
      invoice.adjusted -= amount;
      credit(-1);
    },
  });
  if (random.chance(0.25)) await voidNote(desk);
}

const netOf = ({ amount, line_item_discount, invoice_level_discount }: any): number =>
  cents(amount) - cents(line_item_discount) - cents(invoice_level_discount);

/** Voids the newest adjustment; its invoice may be open again (money 10.11). */
export async function voidNote(desk: Desk): Promise<void> {
  const adjustment = desk.adjustments.pop();
  if (adjustment === undefined) return;
  const { id, invoice, undo } = adjustment;
  const voided = await desk.command('void note', `/creditnotes/${id}/void`, {});
  if (voided !== null) undo();
  else if (!invoice.isVoid)
    throw new Error(`the adjustment ${id} cannot be voided: ${desk.refusal}`);
}

export async function voidInvoice(desk: Desk, row: any): Promise<void> {
  const { ledger, random } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const isToSource =
    ledger.paymentsOf(invoice).every(({ kind }) => kind === 'bank') && random.chance(0.3);
  const credited = ledger.advances.credited(invoice);
  // The tax that a change returns has shares that were rounded: an amount is named then.
  const isNamed = credited > 0 && (invoice.exclusive > 0 || random.chance(0.5));
  const what = credited > 0 ? 'void of credited' : 'void';
  const body = await desk.command(what, `/invoices/${row.id}/void`, {
    ...(isToSource ? { refund_target: 'BACK_TO_SOURCE' } : {}),
    ...(isNamed ? { amount: money(ledger.paid(invoice) - ledger.refunded(invoice)) } : {}),
  });
  if (body === null) return;
  assertNotCharged(invoice);
  ledger.void(invoice, isToSource, desk.now, isNamed ? 0 : credited);
}

/** Edits the rows of an issued invoice; the draft that replaces it is issued at once (billing 17.6). */
export async function edit(desk: Desk, row: any): Promise<void> {
  const { ledger, random } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  // `discounted-life.test.ts` edits invoices with discounts.
  if (hasCoupons(desk, row)) return;
  let rows: any[] = row.line_items;
  let id: string = row.id;
  let drafted = invoice;
  for (let times = random.chance(0.3) ? 2 : 1; times > 0; times -= 1) {
    const body = await desk.command('edit', `/invoices/${id}/modify/execute`, {
      line_items: [editOf(desk, rows)],
    });
    if (body !== null && invoice.purchase !== null)
      throw new Error(`the rows of the purchase ${row.id} were edited`);
    if (body !== null) {
      assertNotAdjusted(invoice);
      assertNotCharged(invoice);
    }
    if (body === null) break;
    if (drafted === invoice) drafted = ledger.replace(invoice, body.id, desk.now);
    id = body.id;
    rows = body.line_items;
  }
  if (drafted === invoice) return;
  const sum = (only: (line: any) => boolean) =>
    rows.filter(only).reduce((total, { amount }) => total + cents(amount), 0);
  const usage = sum(({ price_type }) => price_type === 'USAGE');
  await issueDraft(desk, id);
  drafted.isWritten = true;
  const before = row.line_items.filter(isFee);
  const fees = before.reduce((total: number, { amount }: any) => total + cents(amount), 0);
  ledger.advances.edit(drafted, sum(isFee) - fees);
  const taxes = ledger.taxesOfEdit(invoice, row);
  ledger.issue(drafted, { usage, net: sum(() => true), taxes }, desk.now, row.period_end);
}

const hasCoupons = ({ customer }: Desk, { subscription_id, total_discount }: any): boolean =>
  total_discount !== '0' ||
  customer.subscriptions.some(({ id, coupons }) => id === subscription_id && coupons.length > 0);

const isFee = ({ price_type, price_id, display_name }: any): boolean =>
  price_type === 'FIXED' && price_id !== null && display_name !== 'Setup';

/** Credit notes stay with the invoice: its replacement would ask for the credited amount again (money 9.15). */
function assertNotAdjusted({ id, adjusted }: Invoice): void {
  if (adjusted > 0) throw new Error(`the invoice ${id} with credit notes was replaced`);
}

function editOf({ random }: Desk, rows: readonly any[]): object {
  const amount = money(1 + random.below(9_000));
  const target = random.pick(rows.filter(({ display_name }) => display_name !== 'Setup'));
  const kind = random.below(3);
  if (kind === 0 || target === undefined)
    return { action: 'add', display_name: 'Added', amount, quantity: '1' };
  if (kind === 1 && rows.filter((line) => line.amount !== '0').length > 1)
    return { action: 'remove', id: target.id };
  return { action: 'update', id: target.id, amount };
}

/** Computes an issued invoice of a subscription again, with all usage that has come since. */
export async function recalculate(desk: Desk, row: any): Promise<void> {
  const { ledger } = desk;
  const invoice = ledger.invoices.get(row.id)!;
  const isKept = invoice.isWritten || row.billing_reason === 'SUBSCRIPTION_UPDATE';
  if (isKept && hasCoupons(desk, row)) return;
  const body = await desk.command('recalculate', `/invoices/${row.id}/recalculate`, {});
  if (body === null) return;
  assertNotAdjusted(invoice);
  assertNotCharged(invoice);
  const drafted = ledger.replace(invoice, body.id, desk.now);
  drafted.isWritten = invoice.isWritten;
  await issueDraft(desk, body.id);
  ledger.issueAgain(drafted, invoice, row, desk.now);
}

async function issueDraft(desk: Desk, id: string): Promise<void> {
  const issued = await desk.command('issue', `/invoices/${id}/finalize`, {});
  if (issued === null) throw new Error(`the draft ${id} cannot be issued: ${desk.refusal}`);
}
