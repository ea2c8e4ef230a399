import { buildInvoice } from '../../support/build-invoice.ts';
import {
  addedTaxWindow,
  removedTaxEnd,
  type TaxAssociation,
} from '../../../domain/invoicing/tax-resolution.ts';
import { computeTaxes, type TaxRow } from '../../../domain/invoicing/taxes.ts';
import { decimal } from '../../../domain/money.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import type { Answer, JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { couponOf, row, taxOf } from './invoice.ts';

export const taxes: AreaOperations = {
  tax_amount(given) {
    const { rows } = taxed(given, [given['percentage_value'] as string]);
    return { tax_amount: rows[0]!.tax_amount };
  },

  tax_amounts(given) {
    const { rows, exclusive } = taxed(given, given['percentage_values'] as string[]);
    return { tax_amounts: rows.map((tax) => tax.tax_amount), total_tax: exclusive };
  },

  invoice_tax: invoiceTax,

  invoice_tax_then_finalize(given) {
    return { ...invoiceTax(given), invoice_status: moveInvoice('DRAFT', 'finalize') };
  },

  /** The rows of an invoice are what `buildInvoice` answers; a preview does not store them. */
  tax_preview_then_apply(given) {
    const stored: TaxRow[] = [];
    const preview = built(given);
    const afterPreview = stored.length;
    const applied = built(given);
    stored.push(...applied.taxes);
    return {
      preview_tax: preview.total_tax,
      taxes_applied_after_preview: afterPreview,
      applied_tax: applied.total_tax,
      taxes_applied_after_apply: stored.length,
    };
  },

  subscription_tax_modification(given) {
    const at = (given['now'] ?? '2026-03-04T00:00:00Z') as string;
    const effective = (given['effective_date'] ?? null) as string | null;
    const state = oneOf('state', given['state'] ?? 'none', [
      'none',
      'active_association_exists',
      'association_already_ended',
    ]);
    const stands = state === 'active_association_exists';
    const ended = state === 'association_already_ended';
    const association: TaxAssociation = {
      id: 'association',
      level: 'subscription',
      tax_rate_id: 'rate',
      tax_rate_status: 'ACTIVE',
      percentage_value: '10',
      tax_behavior: 'exclusive',
      priority: 0,
      auto_apply: true,
      currency: null,
      start_date: '2026-01-01T00:00:00Z',
      end_date: ended ? '2026-02-01T00:00:00Z' : null,
    };
    if (oneOf('action', given['action'], ['add', 'remove']) === 'remove') {
      return { association_end_date: removedTaxEnd(association, effective, at) };
    }
    const added = { tax_rate_id: 'rate', currency: null };
    const window = addedTaxWindow(stands ? [association] : [], added, effective, at);
    return { association_start_date: window.start_date };
  },
};

function taxed(given: JsonObject, percentages: readonly string[]) {
  return computeTaxes(
    decimal(given['taxable_amount'] as string),
    percentages.map((percentage_value) =>
      taxOf({ percentage_value, tax_behavior: given['tax_behavior'] as string }),
    ),
    given['currency'] as string,
  );
}

function built(given: JsonObject) {
  const discount = given['total_discount'] as string | undefined;
  return buildInvoice({
    currency: (given['currency'] ?? 'usd') as string,
    invoice_status: 'DRAFT',
    lines: [row('line', given['subtotal'] as string)],
    coupons: discount === undefined ? [] : [couponOf({ type: 'fixed', amount_off: discount })],
    taxes: {
      rates: [
        taxOf({
          percentage_value: given['percentage_value'] as string,
          tax_behavior: (given['tax_behavior'] ?? 'exclusive') as string,
        }),
      ],
      exemption: null,
    },
  });
}

function invoiceTax(given: JsonObject): { [key: string]: Answer } {
  const invoice = built(given);
  return {
    taxable_amount: invoice.taxes[0]!.taxable_amount,
    total_tax: invoice.total_tax,
    total: invoice.total,
    amount_due: invoice.amount_due,
  };
}
