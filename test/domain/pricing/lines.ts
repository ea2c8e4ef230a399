import type { UsageRow } from '../../../domain/metering/usage.ts';
import { priceTerms, type PriceRecord, type PriceTerms } from '../../../domain/pricing/price.ts';
import type { ChargeCell } from '../../../domain/pricing/proration.ts';
import { rateFixedLine, type FixedLineInput } from '../../../domain/pricing/rate-fixed-line.ts';
import { rateUsageLine, type UsageLineInput } from '../../../domain/pricing/rate-usage-line.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { decimalText } from '../../../domain/money.ts';
import type { Period } from '../../../domain/time/instant.ts';
import {
  Explanation,
  type ExplanationStep,
  type ExplanationStepOf,
} from '../../../schemas/explanation.ts';
import { redo } from './redo-explanation.ts';

/** Prices, cells and lines for tables of cases. Dates are short: `2026-01-15` or `2026-01-15T12:00`. */
export const at = (date: string): string => {
  const [day, time = '00:00'] = date.split('T');
  return `${day}T${time.length === 5 ? `${time}:00` : time}.000Z`;
};
export const span = (start: string, end: string): Period => ({ start: at(start), end: at(end) });

/** A cell that nothing cuts, or one that the line's own dates cut to `service`. */
export const cellOf = (reference: Period, service: Period = reference): ChargeCell => ({
  reference,
  cell: reference,
  service,
});
export const JANUARY: Period = span('2026-01-01', '2026-02-01');
export const APRIL: Period = span('2026-04-01', '2026-05-01');

type Model = Omit<PriceRecord, 'id' | 'type' | 'currency' | 'amount'> & { amount?: string };

export function price(model: Model, rest: Partial<PriceRecord> = {}): PriceTerms {
  return priceTerms({
    id: 'price_1',
    type: 'USAGE',
    currency: 'usd',
    ...model,
    amount: model.amount ?? null,
    ...rest,
  });
}
export const flat = (amount: string, rest: Partial<PriceRecord> = {}): PriceTerms =>
  price({ billing_model: 'FLAT_FEE', amount }, rest);
export const fixed = (amount: string, rest: Partial<PriceRecord> = {}): PriceTerms =>
  flat(amount, { type: 'FIXED', ...rest });
export const pack = (amount: string, divide_by: number, round: 'up' | 'down' = 'up'): PriceTerms =>
  price({ billing_model: 'PACKAGE', amount, transform_quantity: { divide_by, round } });

/** Tiers as `up_to unit [flat]`, `-` for the open one. */
export const tiered = (
  tier_mode: 'SLAB' | 'VOLUME',
  tiers: readonly string[],
  rest: Partial<PriceRecord> = {},
): PriceTerms =>
  price(
    {
      billing_model: 'TIERED',
      tier_mode,
      tiers: tiers.map((tier) => {
        const [upTo, unit_amount, flat_amount] = tier.split(' ');
        return {
          up_to: upTo === '-' ? null : Number(upTo),
          unit_amount: unit_amount!,
          flat_amount: flat_amount ?? null,
        };
      }),
    },
    rest,
  );
export const slab = (...tiers: string[]): PriceTerms => tiered('SLAB', tiers);

export const whole = (quantity: string, event_count = 1): UsageRow[] => [
  { group: [], window_start: null, quantity, event_count },
];
/** Rows of windows, as `start quantity [group]`. */
export const windows = (...rows: string[]): UsageRow[] =>
  rows.map((row) => {
    const [start, quantity, group] = row.split(' ');
    return {
      group: group === undefined ? [] : [group],
      window_start: at(start!),
      quantity: quantity!,
      event_count: 1,
    };
  });

/**
 * Rates a usage line of January and checks each explanation: it parses, and a computation by hand gives its
 * figures.
 */
export function usageLines(
  input: Partial<UsageLineInput> & Pick<UsageLineInput, 'price'>,
): readonly RatedLine[] {
  const lines = rateUsageLine({
    line: {},
    aggregation: 'SUM',
    bucket_size: null,
    timezone: 'UTC',
    rows: [],
    cell: cellOf(JANUARY),
    proration_behavior: 'none',
    ...input,
  });
  return lines.map(checked);
}

export function usageLine(
  input: Partial<UsageLineInput> & Pick<UsageLineInput, 'price'>,
): RatedLine {
  const lines = usageLines(input);
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

export function fixedLine(
  input: Partial<FixedLineInput> & Pick<FixedLineInput, 'price'>,
): RatedLine {
  return checked(
    rateFixedLine({
      quantity: '1',
      cell: cellOf(JANUARY),
      proration_behavior: 'none',
      ...input,
    }),
  );
}

/** Invariants of every rated line. */
export function checked(line: RatedLine): RatedLine {
  const { explanation } = line;
  expect(Explanation.parse(explanation)).toEqual(explanation);
  expect(redo(explanation)).toEqual([]);
  expect(explanation.kind).toBe(line.kind);
  expect(explanation.amount).toBe(decimalText(line.amount));
  expect(explanation.quantity).toBe(decimalText(line.quantity));
  expect(explanation.period).toEqual(line.period);
  return line;
}

/** `amount quantity` of a line as text, for tables. */
export const figures = (line: RatedLine): string =>
  `${decimalText(line.amount)} for ${decimalText(line.quantity)}`;

/** The first step of that name; a line without one fails the test. */
export function step<Name extends ExplanationStep['step']>(
  line: RatedLine,
  name: Name,
): ExplanationStepOf<Name> {
  const found = line.explanation.steps.find((candidate) => candidate.step === name);
  if (found === undefined) throw new Error(`no step ${name}`);
  return found as ExplanationStepOf<Name>;
}
