import type { SettlementStep } from '../../schemas/explanation.ts';
import { minorDigits } from '../currency.ts';
import { decimal, type Decimal } from '../money.ts';
import { figuresOf, shown, type Reader } from './figures.ts';
import type { Cell, NamedCell, StepPart } from './text-table.ts';

type Tax = Extract<SettlementStep, { step: 'tax' }>;

/**
 * What the invoice deducts from the row (before, deduction, after), the row's part of each tax, and what is
 * left to pay for the row. A tax is rounded once for all rows together, so the row's part of it is a share by
 * amount, and marked if it is not a whole number of minor units.
 */
export function settlementTable(
  amount: string,
  steps: readonly SettlementStep[],
  currency: string,
  reader: Reader,
): StepPart {
  const digits = minorDigits(currency);
  const { money, number, name } = figuresOf(digits, reader);
  const cents = (value: Decimal) => shown(value, digits, digits, reader.mark);
  const named = (kind: NamedCell['kind'], id: string, before: string, after = ''): NamedCell => ({
    ...{ kind, id, before, after },
    name: name(id),
  });
  let left = decimal(amount);
  const rows = steps.map((step): Cell[] => {
    switch (step.step) {
      case 'discount': {
        left = decimal(step.after);
        const off = step.percentage_off === null ? '' : `, ${number(step.percentage_off)}% off`;
        return [
          named('coupon', step.coupon_id, 'coupon ', off),
          money(step.before),
          money(step.amount),
          money(step.after),
          step.rule,
        ];
      }
      case 'prepaid_credit':
        left = decimal(step.after);
        return [
          named('wallet', step.wallet_id, 'wallet '),
          money(step.before),
          money(step.amount),
          money(step.after),
          step.rule,
        ];
      case 'tax': {
        const share = shareOfTax(step);
        if (step.tax_behavior === 'exclusive') left = left.plus(share);
        const rate = `${number(step.percentage_value)}% ${step.tax_behavior} tax `;
        return [
          named('tax_rate', step.tax_rate_id, rate, `, ${money(step.tax_amount)} on all rows`),
          money(step.line_base),
          cents(share),
          step.tax_behavior === 'exclusive' ? cents(left) : 'included',
          step.rule,
        ];
      }
      default:
        return step satisfies never;
    }
  });
  const heading = ['', 'of', 'amount', 'leaves', 'rule'];
  return { rows: [heading, ...rows, ['net payable', '', '', cents(left), '']] };
}

function shareOfTax({ tax_amount, line_base, invoice_base }: Tax): Decimal {
  const base = decimal(invoice_base);
  const tax = decimal(tax_amount);
  return base.isZero() ? base : tax.times(decimal(line_base)).div(base);
}
