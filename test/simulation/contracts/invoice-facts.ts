import { Decimal } from '../../../domain/money.ts';
import type { Contract, Draft, Row, Sums } from './contract.ts';
import { iso } from './naive-calendar.ts';

/** How a change is settled: the rows of its invoice with the credits that pay it, or what is credited. */
export const settled = ({ changed_resources: { invoices } }: any): Facts =>
  (invoices as any[]).flatMap(({ action, amount, invoice }) =>
    invoice === null ? [`${action} ${amount}`] : [action, ...exact(invoice), ...paid(invoice)],
  );

/** What an invoice says, one text for each fact. */
export type Facts = readonly string[];

/** The facts of the first that are not in the second. */
export function beside(first: Facts | null, second: Facts | null): Facts {
  const left = [...(second ?? ['no invoice'])];
  return (first ?? ['no invoice']).filter((fact) => {
    const at = left.indexOf(fact);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** Everything that a preview says before it is billed. */
export const exact = (invoice: any): Facts => [
  ...invoice.line_items.map((row: any) =>
    JSON.stringify([
      ...[row.display_name, row.kind, row.quantity, row.amount, row.period_start, row.period_end],
      ...[row.line_item_discount, row.invoice_level_discount, row.adjusted_entitlement_quantity],
      Object.entries(row.commitment_info ?? {}).sort(),
    ]),
  ),
  ...invoice.taxes.map((tax: any) =>
    JSON.stringify([tax.percentage_value, tax.tax_behavior, tax.tax_amount]),
  ),
  `subtotal ${invoice.subtotal}`,
  `discount ${invoice.total_discount}`,
  `tax ${invoice.total_tax}`,
];

/** What is left to pay. The draft of a period uses no credits, so only invoices issued at once are compared. */
const paid = (invoice: any): Facts => [
  `credits ${invoice.total_prepaid_credits_applied}`,
  `total ${invoice.total}`,
];

/** What an invoice says, as the naive account says it. */
export function shown(invoice: any, { commitment }: Contract): Facts {
  const rows = (invoice.line_items as any[]).map((row): Row => ({
    name: row.display_name.replace(/ (\(Overage\)|True Up)$/, ''),
    kind: row.kind ?? 'base',
    start: Date.parse(row.period_start),
    end: Date.parse(row.period_end),
    quantity: (row.kind ?? 'base') === 'base' ? row.quantity : null,
    amount: row.amount,
  }));
  // How a commitment of the subscription is shared by its usage rows is a rule of its own.
  const usage = rows.filter(({ name }) => !name.startsWith('fee'));
  const isPooled = commitment !== null && usage.length > 0;
  const pooled: Row = {
    ...{ name: 'usage', kind: 'base', quantity: null },
    ...{ start: Date.parse(invoice.period_start), end: Date.parse(invoice.period_end) },
    amount: usage.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0)).toFixed(),
  };
  return factsOf({
    rows: isPooled ? [...rows.filter((row) => !usage.includes(row)), pooled] : rows,
    subtotal: invoice.subtotal,
    discount: invoice.total_discount,
    tax: invoice.total_tax,
    credits: invoice.total_prepaid_credits_applied,
    total: invoice.total,
  });
}

/** What a bill of the naive account says. */
export function factsOf(bill: Sums & Pick<Draft, 'rows'>): Facts {
  const plain = (text: string) => new Decimal(text).toFixed();
  return [
    ...bill.rows.map(({ name, kind, start, end, quantity, amount }) =>
      [
        ...[name, kind, iso(start), iso(end)],
        quantity === null ? '' : `${plain(quantity)} units`,
        plain(amount),
      ].join(' '),
    ),
    `subtotal ${plain(bill.subtotal)}`,
    `discount ${plain(bill.discount)}`,
    `tax ${plain(bill.tax)}`,
    `credits ${plain(bill.credits)}`,
    `total ${plain(bill.total)}`,
  ];
}
