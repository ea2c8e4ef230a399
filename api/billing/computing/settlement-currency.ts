import { isIsoCurrency, roundToCurrency, type CustomCurrency } from '../../../domain/currency.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { InvoiceCoupon } from '../../../domain/invoicing/coupons.ts';
import { decimal, decimalText, sum, type Decimal } from '../../../domain/money.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';

/** How amounts in a custom currency become those of an invoice (billing 2.6). */
export interface Settlement {
  readonly custom: CustomCurrency;
  /** Units of the invoice's currency for one unit of the custom currency. */
  readonly factor: string;
  /** The currency of the invoice. */
  readonly currency: string;
}

/** The currency of invoices if factors to several currencies are configured and this is one of them. */
const PREFERRED = 'usd';

/**
 * The settlements of custom currencies, by code, at the current factors. Reads the setting only if one of the
 * currencies is not one of ISO 4217.
 */
export async function settlementsOf(
  db: Db,
  scope: Scope,
  currencies: readonly string[],
): Promise<ReadonlyMap<string, Settlement>> {
  if (currencies.every(isIsoCurrency)) return new Map();
  const { currencies: configured } = await readSetting(db, scope, 'custom_currency_config');
  return new Map(
    configured.map((custom) => {
      const { code, conversion_factors: factors } = custom;
      const known = Object.keys(factors).sort();
      const currency = known.includes(PREFERRED) ? PREFERRED : known[0]!;
      return [code, { custom, factor: factors[currency]!, currency }];
    }),
  );
}

/** The settlement of the currency; null for a currency of ISO 4217. A code without a configuration is refused. */
export function settlementIn(
  settlements: ReadonlyMap<string, Settlement>,
  currency: string,
): Settlement | null {
  if (isIsoCurrency(currency)) return null;
  const found = settlements.get(currency);
  if (found === undefined)
    throw invalidField(
      'currency',
      `${currency} is neither a currency of ISO 4217 nor one of the setting custom_currency_config`,
    );
  return found;
}

/** The settlement of one currency; null for a currency of ISO 4217. */
export const settlementOf = async (
  db: Db,
  scope: Scope,
  currency: string,
): Promise<Settlement | null> => settlementIn(await settlementsOf(db, scope, [currency]), currency);

/** An amount in the custom currency as money of the invoice, rounded. */
export const converted = (
  { factor, currency }: Pick<Settlement, 'factor' | 'currency'>,
  amount: Decimal,
): Decimal => roundToCurrency(amount.times(factor), currency);

/** A stored row at the current factor. Its amount in the custom currency stays the same. */
export function reconverted(
  settlement: Settlement | null,
  line: InvoiceLineRecord,
): InvoiceLineRecord {
  const { custom_currency, explanation } = line;
  if (settlement === null || custom_currency?.currency !== settlement.custom.code) return line;
  if (custom_currency.conversion_factor === settlement.factor) return line;
  const { factor, currency } = settlement;
  const unrounded = decimal(custom_currency.amount).times(factor);
  const amount = decimalText(converted(settlement, decimal(custom_currency.amount)));
  return {
    ...line,
    amount,
    currency,
    custom_currency: { ...custom_currency, conversion_factor: factor },
    explanation: explanation && {
      ...explanation,
      amount,
      steps: explanation.steps.map((step) =>
        step.step === 'conversion'
          ? { ...step, factor, unrounded: decimalText(unrounded), amount }
          : step,
      ),
    },
  };
}

/** Fixed discounts in the custom currency become discounts in the currency of the invoice (money 12.8). */
export const couponsIn = (
  settlement: Pick<Settlement, 'factor' | 'currency'> | null,
  coupons: readonly InvoiceCoupon[],
): InvoiceCoupon[] =>
  coupons.map((coupon) =>
    settlement === null || coupon.amount_off === null
      ? coupon
      : {
          ...coupon,
          amount_off: decimalText(converted(settlement, decimal(coupon.amount_off))),
        },
  );

/** The amounts of the invoice in the custom currency; null without one. */
export const invoiceCustomCurrency = (
  settlement: Settlement | null,
  lines: readonly InvoiceLineRecord[],
): InvoiceRecord['custom_currency'] =>
  settlement === null
    ? null
    : {
        currency: settlement.custom.code,
        symbol: settlement.custom.symbol,
        conversion_factor: settlement.factor,
        subtotal: customSubtotal(lines),
      };

/** Sum of the rows in the custom currency; rows in the currency of the invoice have no part in it. */
export const customSubtotal = (
  lines: readonly Pick<InvoiceLineRecord, 'custom_currency'>[],
): string =>
  decimalText(sum(lines.map(({ custom_currency }) => decimal(custom_currency?.amount ?? '0'))));
