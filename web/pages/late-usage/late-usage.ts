import { decimal } from '../../../domain/money.ts';
import type { LateUsageLine } from '../../../schemas/late-usage.ts';
import { formatDecimal } from '../../ui/text.ts';

/** Why a row differs, in words. */
export function reasonOf({ usage_difference, amount_difference }: LateUsageLine): string {
  const isPriced = !decimal(amount_difference).isZero();
  if (usage_difference === null || decimal(usage_difference).isZero())
    return isPriced ? 'Follows from the usage of other rows' : 'No difference';
  const difference = decimal(usage_difference);
  const quantity = formatDecimal(difference.abs().toFixed());
  const what = difference.gt(0) ? `${quantity} arrived later` : `${quantity} withdrawn later`;
  return isPriced ? what : `${what}, for the same amount`;
}

/** What each way to settle would charge or credit, before tax: the rows that cost more, and those that cost less. */
export function outstandingOf(lines: readonly Pick<LateUsageLine, 'outstanding_amount'>[]): {
  readonly charge: string;
  readonly credit: string;
} {
  const amounts = lines.map(({ outstanding_amount }) => decimal(outstanding_amount));
  const sum = (of: typeof amounts): string =>
    of.reduce((total, amount) => total.plus(amount), decimal('0')).toFixed();
  return {
    charge: sum(amounts.filter((amount) => amount.gt(0))),
    credit: sum(amounts.filter((amount) => amount.lt(0)).map((amount) => amount.neg())),
  };
}
