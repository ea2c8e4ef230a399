import { Decimal, decimal, decimalText, ZERO } from '../../../domain/money.ts';

/** Text of a field as a decimal; null while it is not one yet. */
export const typed = (text: unknown): Decimal | null =>
  /^-?\d{1,20}(\.\d{1,18})?$/.test(String(text ?? '').trim()) ? decimal(String(text).trim()) : null;

/** The exact sum of decimal texts; what is not a number yet counts as nothing. */
export const sumOf = (amounts: readonly unknown[]): string =>
  decimalText(amounts.reduce<Decimal>((sum, amount) => sum.plus(typed(amount) ?? ZERO), ZERO));

/** What credits cost at a price of one; what is not a number yet costs nothing. */
export const priceOfCredits = (credits: unknown, each: string): string =>
  decimalText((typed(credits) ?? ZERO).times(decimal(each)));

export const minus = (from: string, amount: unknown): string =>
  decimalText(decimal(from).minus(typed(amount) ?? ZERO));

export const isEqual = (amount: string, other: string): boolean =>
  decimal(amount).eq(decimal(other));

export const isAbove = (amount: unknown, other: string): boolean =>
  (typed(amount) ?? ZERO).gt(decimal(other));
