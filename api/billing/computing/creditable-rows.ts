import type { CreditableInvoice } from '../../../domain/invoicing/credit-notes.ts';
import {
  creditedServices,
  type CreditedService,
} from '../../../domain/invoicing/credited-service.ts';
import { roundToCurrency } from '../../../domain/currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { netAmount } from '../../../domain/pricing/net-amount.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { rowsOfServiceAfter } from '../records/subscription-change-repository.ts';

/** The rows of an invoice and its tax, with what changes of subscriptions have left of them (money 10.6). */
export async function creditableRows(
  tx: Transaction,
  scope: Scope,
  invoice: InvoiceRecord,
): Promise<Pick<CreditableInvoice, 'lines' | 'tax_left'>> {
  const { lines, services } = await servicesOfInvoice(tx, scope, invoice);
  return {
    tax_left: decimalText(taxLeft(invoice, lines, services)),
    lines: lines.map((line) => {
      const service = services.get(line.id);
      if (service === undefined) return line;
      const rest = roundToCurrency(service.left, invoice.currency);
      return { ...line, service: { key: service.key, left: decimalText(rest) } };
    }),
  };
}

/**
 * The amount that changes of subscriptions have credited of the rows of an invoice, with the tax on it. Credit notes do
 * not count.
 */
export async function creditedByChanges(
  tx: Transaction,
  scope: Scope,
  invoice: InvoiceRecord,
): Promise<Decimal> {
  const { lines, services } = await servicesOfInvoice(tx, scope, invoice);
  if (services.size === 0) return ZERO;
  const byService = groupBy(
    lines.filter(({ id }) => services.has(id)),
    ({ id }) => services.get(id)!.key,
  );
  const credited = [...byService.values()].map((own) => {
    const { left, noted } = services.get(own[0]!.id)!;
    return Decimal.max(sum(own.map(netAmount)).minus(noted).minus(left), ZERO);
  });
  const tax = exclusiveTax(invoice).minus(taxLeft(invoice, lines, services));
  return roundToCurrency(sum([...credited, tax]), invoice.currency);
}

type Services = ReadonlyMap<string, Omit<CreditedService, 'beyond'>>;

const exclusiveTax = ({ tax_summary }: InvoiceRecord): Decimal =>
  decimal(tax_summary?.exclusive_tax ?? '0');

/** The exclusive tax of the invoice less what changes have returned of it. */
function taxLeft(
  invoice: InvoiceRecord,
  lines: readonly InvoiceLineRecord[],
  services: Services,
): Decimal {
  const exclusive = exclusiveTax(invoice);
  const taxable = sum(lines.map(netAmount));
  const untouched = sum(lines.filter(({ id }) => !services.has(id)).map(netAmount));
  const taxes = new Map([...services.values()].map(({ key, tax_left }) => [key, tax_left]));
  const ofUntouched = taxable.gt(0) ? exclusive.times(untouched).div(taxable) : ZERO;
  const left = roundToCurrency(sum([ofUntouched, ...taxes.values()]), invoice.currency);
  return Decimal.min(left, exclusive);
}

async function servicesOfInvoice(tx: Transaction, scope: Scope, { id }: InvoiceRecord) {
  const lines = await linesOfInvoices(tx, scope, [id]);
  return { lines, services: await servicesOf(tx, scope, lines) };
}

/** The services of which changes have credited a part, by the rows that charge them, in the currency of the invoice. */
async function servicesOf(
  tx: Transaction,
  scope: Scope,
  lines: readonly InvoiceLineRecord[],
): Promise<Services> {
  const fees = lines.filter(({ price_type }) => price_type === 'FIXED');
  const services = new Map<string, Omit<CreditedService, 'beyond'>>();
  for (const [subscription_id, rows] of groupBy(fees, (line) => line.subscription_id ?? '')) {
    const starts = rows.flatMap(({ period_start }) => period_start ?? []).sort();
    const ids = rows.flatMap((row) => row.subscription_line_item_id ?? []);
    if (starts.length === 0 || ids.length === 0) continue;
    const serviceAt = creditedServices(
      await rowsOfServiceAfter(tx, scope, subscription_id, ids, starts[0]!),
    );
    for (const { id, subscription_line_item_id, period_start, custom_currency } of rows) {
      const service = serviceAt(subscription_line_item_id ?? '', period_start ?? '');
      if (service === null) continue;
      const factor = decimal(custom_currency?.conversion_factor ?? '1');
      services.set(id, {
        key: service.key,
        left: service.left.times(factor),
        tax_left: service.tax_left.times(factor),
        noted: service.noted.times(factor),
      });
    }
  }
  return services;
}
