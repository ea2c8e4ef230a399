import { decimal, Decimal, sum } from '../../../domain/money.ts';
import { billedWindow, capCredit } from '../../../domain/pricing/credit.ts';
import {
  changeKey,
  changeRows,
  settleRows,
  type LineTerms,
} from '../../../domain/pricing/line-change.ts';
import { priceTerms, type InvoiceCadence, type PriceType } from '../../../domain/pricing/price.ts';
import { prorate, timeShare, type ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { rateFixedLine } from '../../../domain/pricing/rate-fixed-line.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { localDaysBetween } from '../../../domain/time/local-days.ts';
import type { JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { ANY_PERIOD, canonicalInstant, canonicalPeriod, textOf } from './price.ts';

export const proration: AreaOperations = {
  cap_credit: (given) => ({
    credit: capCredit(decimal(textOf(given['potential_credit'])), {
      billed: decimal(textOf(given['original_amount_paid'])),
      credited: decimal(textOf(given['previous_credits'])),
    }),
  }),

  credit_basis(given) {
    const row = given['billed_row'] as JsonObject;
    const { billed, credited } = billedWindow([
      billedRow('base', decimal(textOf(row['billed']))),
      billedRow('credit', decimal(textOf(row['credited'])).negated()),
    ]);
    return { paid: billed, previous_credits: credited };
  },

  prorate_credit_grant(given) {
    const period = canonicalPeriod(given['period_start'], given['period_end']);
    const rest = { start: canonicalInstant(given['proration_date']), end: period.end };
    return { credits: prorate(decimal(textOf(given['credits'])), timeShare(rest, period)) };
  },

  prorate_line_item(given) {
    const rows = rowsOf(given, given);
    return {
      charge: amountOf(rows, 'base'),
      credit: amountOf(rows, 'credit').abs(),
      results: rows.length,
    };
  },

  apply_line_item_changes(given) {
    const changes = given['changes'] as JsonObject[];
    const settled = changes.map((change) => settleRows(rowsOf(change, given)));
    return {
      one_off_invoices: settled.filter(({ action }) => action === 'invoice').length,
      total: sum(settled.map(({ net }) => net)),
    };
  },

  apply_line_item_changes_twice(given) {
    const [change] = given['changes'] as JsonObject[];
    const effective_at = canonicalInstant(given['effective_date']);
    const action = { line_item_id: 'line', action: 'add', effective_at };
    const invoices = new Map<string, Decimal>();
    for (let call = 0; call < 2; call += 1) {
      const { action: settled, net } = settleRows(rowsOf(change!, given));
      if (settled === 'invoice') invoices.set(changeKey('subscription', [action]), net);
    }
    return { one_off_invoices: invoices.size };
  },

  quantity_change_settlement(given) {
    const unit = textOf(given['unit_amount']);
    const before = fixedTerms(unit, textOf(given['old_quantity']));
    const after = fixedTerms(unit, textOf(given['new_quantity']));
    const billed = rateFixedLine({
      price: before.price,
      quantity: before.quantity,
      cell: { reference: ANY_PERIOD, cell: ANY_PERIOD, service: ANY_PERIOD },
      proration_behavior: 'none',
    });
    const rows = changeRows({
      before,
      after,
      invoice_cadence: given['invoice_cadence'] as InvoiceCadence,
      effective_at: '2026-01-16T12:00:00.000Z',
      proration_behavior: 'create_prorations',
      cells: [
        {
          reference: ANY_PERIOD,
          service: ANY_PERIOD,
          billed: { gross: billed.amount, billed: billed.amount, credited: decimal('0') },
        },
      ],
    });
    const { action } = settleRows(rows);
    return { action: action === 'invoice' ? 'invoice_created' : action };
  },

  peers(given, expected) {
    const reference = canonicalPeriod(given['full_period_start'], given['full_period_end']);
    const service = canonicalPeriod(given['service_start'], given['service_end']);
    const terms = fixedTerms(textOf(given['amount'] ?? '1'), textOf(given['quantity']));
    const line = rateFixedLine({
      price: { ...terms.price, currency: given['currency'] as string },
      quantity: terms.quantity,
      // The subscription itself cuts the period, so that `none` charges all of it.
      cell: { reference, cell: service, service },
      proration_behavior: given['proration_behavior'] as ProrationBehavior,
    });
    const zone = given['customer_timezone'] as string;
    return {
      amount: expected['rounding'] === 'none' ? line.unrounded : line.amount,
      amount_unrounded: { value: line.unrounded },
      coefficient: {
        numerator_days: localDaysBetween(service.start, service.end, zone),
        denominator_days: localDaysBetween(reference.start, reference.end, zone),
      },
    };
  },
};

function rowsOf(change: JsonObject, given: JsonObject): readonly RatedLine[] {
  const period = canonicalPeriod(given['current_period_start'], given['current_period_end']);
  const terms = fixedTerms(
    textOf(change['price_amount'] ?? '0'),
    textOf(given['quantity'] ?? '1'),
    given['price_type'] as PriceType | undefined,
  );
  const removed = oneOf('kind', change['kind'] ?? 'add', ['add', 'remove']) === 'remove';
  return changeRows({
    before: removed ? terms : null,
    after: removed ? null : terms,
    invoice_cadence: (given['invoice_cadence'] ?? 'ADVANCE') as InvoiceCadence,
    effective_at: canonicalInstant(given['effective_date']),
    proration_behavior: (given['proration_behavior'] ?? 'create_prorations') as ProrationBehavior,
    cells: [
      {
        reference: period,
        service: period,
        billed: {
          gross: decimal(textOf(given['billed_amount_in_period'] ?? '0')),
          billed: decimal(textOf(given['billed_amount_in_period'] ?? '0')),
          credited: decimal(textOf(given['credited_amount_in_period'] ?? '0')),
        },
      },
    ],
  });
}

function fixedTerms(amount: string, quantity: string, type: PriceType = 'FIXED'): LineTerms {
  const record = { id: 'price', type, billing_model: 'FLAT_FEE', currency: 'usd', amount } as const;
  return { price: priceTerms(record), quantity };
}

const amountOf = (rows: readonly RatedLine[], kind: RatedLine['kind']): Decimal =>
  sum(rows.filter((row) => row.kind === kind).map((row) => row.amount));

const billedRow = (kind: RatedLine['kind'], amount: Decimal) => ({
  kind,
  amount: amount.toFixed(),
  line_item_discount: '0',
  invoice_level_discount: '0',
  invoice_status: 'FINALIZED',
});
