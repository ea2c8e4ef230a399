/** A tax rate in hundredths of a percent. */
export interface TaxTerms {
  readonly code: string;
  readonly rate: number;
  readonly isInclusive: boolean;
}

const tax = (code: string, rate: number, isInclusive = false): TaxTerms => ({
  code,
  rate,
  isInclusive,
});

/** What customers are taxed with; one of them after another. */
export const TAXES: readonly (readonly TaxTerms[])[] = [
  [],
  [tax('vat', 1_900)],
  [tax('gst', 1_000, true)],
  [tax('gst', 1_000, true), tax('city', 500)],
  [tax('state', 825), tax('county', 275)],
  [tax('central', 1_200, true), tax('local', 725, true)],
];

export interface Taxed {
  readonly inclusive: number;
  readonly exclusive: number;
}

export const UNTAXED: Taxed = { inclusive: 0, exclusive: 0 };

/**
 * Inclusive taxes are taken out of the base, exclusive ones are computed on the net that is left; each is rounded once,
 * half up (billing 8.2).
 */
export function taxesOn(base: number, taxes: readonly TaxTerms[]): Taxed {
  const included = taxes.filter(({ isInclusive }) => isInclusive);
  const whole = 10_000 + included.reduce((sum, { rate }) => sum + rate, 0);
  const inclusive = included.reduce((sum, { rate }) => sum + share(base, rate, whole), 0);
  const exclusive = taxes
    .filter(({ isInclusive }) => !isInclusive)
    .reduce((sum, { rate }) => sum + share(base - inclusive, rate, 10_000), 0);
  return { inclusive, exclusive };
}

/** `amount` × `part` / `whole`, rounded half up, in whole numbers. */
export function share(amount: number, part: number, whole: number): number {
  const [doubled, divisor] = [2n * BigInt(amount) * BigInt(part), BigInt(whole)];
  return Number((doubled + divisor) / (2n * divisor));
}
