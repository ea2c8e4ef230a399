import { decimal } from '../../../domain/money.ts';
import { explainText } from '../../../domain/pricing/explain-text.ts';
import type { Reader } from '../../../domain/pricing/figures.ts';
import type {
  PrintedDocument,
  PrintedFact,
  PrintedGroup,
  PrintedRow,
  PrintedTable,
  PrintedTotal,
} from '../../../platform/pdf/printed-document.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SettingValue } from '../../../schemas/settings/settings.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { printedAmount, printedDay, printedPeriod, printedQuantity } from './printed-values.ts';

export interface InvoiceToPrint {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
  readonly customer: Customer;
  readonly tenant: { readonly name: string };
  readonly config: SettingValue<'invoice_pdf_config'>;
  /** By id: the names of the coupons and tax rates on the invoice. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether the explanations of the rows follow on further pages. */
  readonly hasAnnex: boolean;
}

const ACCENT = '#1d4ed8';

const COLUMNS: PrintedTable['columns'] = [
  { heading: 'Description', share: 0.58, align: 'left' },
  { heading: 'Quantity', share: 0.2, align: 'right' },
  { heading: 'Amount', share: 0.22, align: 'right' },
];

/** The invoice as a document. Amounts have their minor digits, dates are in the customer's time zone. */
export function printedInvoice(source: InvoiceToPrint): PrintedDocument {
  const { invoice, lines, customer, tenant, config, names, hasAnnex } = source;
  const { timezone } = customer;
  const number = invoice.invoice_number || null;
  const title = invoice.invoice_type === 'CREDIT' ? 'Credit invoice' : 'Invoice';
  const heading = number === null ? title : `${title} ${number}`;
  const issued = invoice.issue_date ?? invoice.created_at;
  return {
    heading,
    stamp: stampOf(invoice),
    footer: [tenant.name, number ?? 'Draft'].join(' · '),
    author: tenant.name,
    dated: invoice.finalized_at ?? invoice.updated_at,
    accent: config.colors?.accent ?? ACCENT,
    logo: config.logo ?? null,
    facts: [
      { label: 'Issued', value: printedDay(issued, timezone) },
      ...(invoice.due_date === null
        ? []
        : [{ label: 'Due', value: printedDay(invoice.due_date, timezone) }]),
      ...(invoice.period_start === null || invoice.period_end === null
        ? []
        : [
            {
              label: 'Period',
              value: `${printedPeriod(invoice.period_start, invoice.period_end, timezone)} (${timezone})`,
            },
          ]),
      ...(invoice.description ? [{ label: 'Description', value: invoice.description }] : []),
      ...conversionOf(invoice),
    ],
    parties: [
      {
        heading: 'FROM',
        lines: [tenant.name, ...linesOf(config.address), ...(config.tax_ids ?? [])],
      },
      { heading: 'BILL TO', lines: customerLines(customer) },
    ],
    table: { columns: COLUMNS, groups: groupsOf(source) },
    totals: totalsOf(source),
    notes: config.notes === undefined || config.notes === '' ? [] : [config.notes],
    annex: hasAnnex ? lines.flatMap((line) => annexOf(line, { timezone, names })) : [],
  };
}

/** Lines of a text; none if it is not set. */
const linesOf = (text: string | undefined): string[] =>
  (text ?? '').split('\n').filter((line) => line.trim() !== '');

function stampOf({ invoice_status, payment_status }: InvoiceRecord): string | null {
  if (invoice_status === 'DRAFT') return 'DRAFT: not a final invoice';
  if (invoice_status === 'VOIDED') return 'VOID';
  return payment_status === 'SUCCEEDED' || payment_status === 'OVERPAID' ? 'PAID' : null;
}

function customerLines(customer: Customer): string[] {
  const city = [customer.address_postal_code, customer.address_city].filter(Boolean).join(' ');
  return [
    customer.name,
    customer.address_line1,
    customer.address_line2,
    city,
    customer.address_state,
    customer.address_country,
    customer.email,
  ].filter((line): line is string => Boolean(line));
}

/** Rows under the values of the fields in `group_by`; without the setting, under no heading. */
function groupsOf({ lines, customer, config }: InvoiceToPrint): PrintedGroup[] {
  const by = config.group_by ?? [];
  const groups = groupBy(lines, (line) => by.map((field) => groupValue(line, field)).join(' · '));
  return [...groups].map(([heading, rows]) => ({
    heading: by.length === 0 ? null : heading,
    rows: rows.map((line) => rowOf(line, customer.timezone)),
  }));
}

/** A text field of the row, or a key of its metadata. */
function groupValue(line: InvoiceLineRecord, field: string): string {
  const value: unknown = line[field as keyof InvoiceLineRecord] ?? line.metadata[field];
  return typeof value === 'string' && value !== '' ? value : 'Other';
}

function rowOf(line: InvoiceLineRecord, timezone: string): PrintedRow {
  const { period_start, period_end, currency, custom_currency: custom } = line;
  const detail = [
    ...(period_start === null || period_end === null
      ? []
      : [printedPeriod(period_start, period_end, timezone)]),
    ...(custom === null
      ? []
      : [
          `${printedCustom(custom.amount, custom)} × ${custom.conversion_factor} ${currency.toUpperCase()}`,
        ]),
  ];
  return {
    cells: [
      line.display_name ?? 'Row',
      printedQuantity(line.quantity),
      printedAmount(line.amount, currency),
    ],
    detail: detail.length === 0 ? null : detail.join(' · '),
  };
}

/** An amount in a custom currency, by its code: its symbol may be any text. */
const printedCustom = (text: string, { currency }: { readonly currency: string }): string =>
  `${printedQuantity(text)} ${currency.toUpperCase()}`;

/** The factor by which every row in the custom currency was converted (money 12.5). */
function conversionOf({ custom_currency: custom, currency }: InvoiceRecord): PrintedFact[] {
  if (custom === null) return [];
  const { conversion_factor } = custom;
  return [
    {
      label: 'Conversion',
      value: `${printedCustom('1', custom)} = ${conversion_factor} ${currency.toUpperCase()}`,
    },
  ];
}

function totalsOf({ invoice, names }: InvoiceToPrint): PrintedTotal[] {
  const { currency } = invoice;
  const amount = (text: string): string => printedAmount(text, currency);
  const total = (label: string, text: string, isStrong = false): PrintedTotal => ({
    label,
    value: amount(text),
    isStrong,
  });
  const less = (label: string, text: string): PrintedTotal[] =>
    decimal(text).isZero() ? [] : [total(label, decimal(text).neg().toFixed())];
  const { custom_currency: custom } = invoice;
  return [
    ...(custom === null
      ? []
      : [
          {
            label: `Subtotal in ${custom.currency.toUpperCase()}`,
            value: printedCustom(custom.subtotal, custom),
            isStrong: false,
          },
        ]),
    total('Subtotal', invoice.subtotal),
    ...invoice.coupon_applications.flatMap((application) =>
      less(
        `Discount: ${names.get(application.coupon_id) ?? 'coupon'}`,
        application.discounted_amount,
      ),
    ),
    ...less('Prepaid credits', invoice.total_prepaid_credits_applied),
    ...invoice.taxes.map((tax) =>
      total(`Tax: ${names.get(tax.tax_rate_id) ?? 'tax'}`, tax.tax_amount),
    ),
    total('Total', invoice.total, true),
    ...less('Adjustments', invoice.adjustment_amount),
    ...less('Paid', invoice.amount_paid),
    total('Amount payable', invoice.amount_remaining, true),
  ];
}

const annexOf = (
  { display_name, explanation }: InvoiceLineRecord,
  reader: Reader,
): PrintedDocument['annex'] =>
  explanation === null
    ? []
    : [{ heading: display_name ?? 'Row', text: explainText(explanation, reader) }];
