import { invalidField, notFound } from '../../../domain/errors.ts';
import { resolveTaxes, type ResolvedTaxes } from '../../../domain/invoicing/tax-resolution.ts';
import type { TaxBehavior } from '../../../domain/invoicing/taxes.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { CreateInvoiceBody } from '../../../schemas/invoice-requests.ts';
import type { TaxRate } from '../../../schemas/tax.ts';
import { findTaxRates, findTaxRateByCode } from '../../catalog/taxes/repository.ts';

interface Named {
  readonly rate: TaxRate;
  readonly priority: number;
  readonly tax_behavior: TaxBehavior;
  readonly path: string;
}

/**
 * The taxes that a one-off invoice names, by id or by code (billing 8.1). An exempt customer pays none. 404
 * for an unknown id; a code or a currency that does not fit is refused.
 */
export async function namedTaxes(
  tx: Transaction,
  scope: Scope,
  body: CreateInvoiceBody,
  customer: Pick<Customer, 'tax_treatment'>,
): Promise<ResolvedTaxes> {
  const named = [...(await byId(tx, scope, body)), ...(await byCode(tx, scope, body))];
  named.forEach(({ rate, path }, index) => {
    if (rate.status !== 'published' || rate.tax_rate_status !== 'ACTIVE')
      throw invalidField(path, `tax rate ${rate.code} is not active`);
    if (named.findIndex((other) => other.rate.id === rate.id) < index)
      throw invalidField(path, `tax rate ${rate.code} is named already`);
  });
  const { rates, exemption } = resolveTaxes(
    {
      tax_treatment: customer.tax_treatment,
      currency: body.currency,
      period_start: null,
      period_end: null,
    },
    named.map(({ rate, priority, tax_behavior }) => ({
      id: '',
      level: 'invoice',
      tax_rate_id: rate.id,
      tax_rate_status: rate.tax_rate_status,
      percentage_value: rate.percentage_value,
      tax_behavior,
      priority,
      auto_apply: true,
      currency: null,
      start_date: null,
      end_date: null,
    })),
  );
  return { exemption, rates: rates.map((rate) => ({ ...rate, tax_association_id: null })) };
}

async function byId(
  tx: Transaction,
  scope: Scope,
  { tax_rates }: CreateInvoiceBody,
): Promise<Named[]> {
  const ids = tax_rates ?? [];
  const rates = await findTaxRates(tx, scope, [...new Set(ids)]);
  return ids.map((id, index) => {
    const rate = rates.find((known) => known.id === id);
    if (rate === undefined) throw notFound('Tax rate', id);
    return { rate, priority: 0, tax_behavior: 'exclusive', path: `tax_rates[${index}]` };
  });
}

async function byCode(
  tx: Transaction,
  scope: Scope,
  { tax_rate_overrides, currency }: CreateInvoiceBody,
): Promise<Named[]> {
  const named: Named[] = [];
  for (const [index, override] of (tax_rate_overrides ?? []).entries()) {
    const path = `tax_rate_overrides[${index}]`;
    if (override.auto_apply === false)
      throw invalidField(`${path}.auto_apply`, 'must be true: the tax is on this invoice');
    if (override.currency !== currency)
      throw invalidField(`${path}.currency`, `the invoice is in ${currency}`);
    const rate = await findTaxRateByCode(tx, scope, override.tax_rate_code);
    if (rate === null)
      throw invalidField(
        `${path}.tax_rate_code`,
        `there is no tax rate with code ${override.tax_rate_code}`,
      );
    named.push({
      rate,
      priority: override.priority ?? 0,
      tax_behavior: override.tax_behavior ?? 'exclusive',
      path: `${path}.tax_rate_code`,
    });
  }
  return named;
}
