const DAY = 86_400;
/** First digits of the distance between two labels of values. */
const VALUE_STEPS = [1, 2, 5, 10];
const VALUE_INTERVALS_MAX = 5;
/** Steps of a calendar in seconds; a month has 30 days here, as in the library that draws. */
const SUB_DAY = [60, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 14_400, 21_600, 28_800, 43_200];
const DAYS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15].map((days) => days * DAY);
const MONTHS = [1, 2, 3, 4, 6].map((months) => months * 30 * DAY);
const YEARS = [1, 2, 5, 10, 25, 50, 100].map((years) => years * 365 * DAY);
/** The shortest day and the shortest month of a zone with summer time. */
const SHORT_DAY = DAY - 3_600;
const SHORT_MONTH = 28 * DAY - 3_600;

/** Distances between labels of times: none is shorter than the time that a value stands for. */
export function timeSteps(times: readonly string[]): number[] {
  const seconds = times.map((time) => Date.parse(time) / 1000);
  const shortest = seconds
    .slice(1)
    .reduce((least, at, index) => Math.min(least, at - seconds[index]!), Infinity);
  if (shortest === Infinity || shortest < SHORT_DAY)
    return [...SUB_DAY, ...DAYS, ...MONTHS, ...YEARS];
  return shortest < SHORT_MONTH ? [...DAYS, ...MONTHS, ...YEARS] : [...MONTHS, ...YEARS];
}

/** The labels of an axis of values, in ascending order. */
export interface ValueLabels {
  readonly at: readonly number[];
  /** Decimals that tell two labels apart: 2 if they are 0.25 apart. */
  readonly decimals: number;
}

/**
 * Labels at equal round distances. They begin at or below the smallest value and end at or above the largest, and one
 * of them is zero. If every value is whole, so are they: no label is half an event.
 */
export function valueLabels(values: readonly (string | null)[]): ValueLabels {
  const numbers = values.flatMap((value) => (value === null ? [] : [Number(value)]));
  const low = numbers.reduce((least, value) => Math.min(least, value), 0);
  const high = numbers.reduce((most, value) => Math.max(most, value), 0);
  if (low === high) return { at: [0, 1], decimals: 0 };
  const shortest = (high - low) / VALUE_INTERVALS_MAX;
  const areWhole = values.every((value) => value === null || !value.includes('.'));
  const power = Math.max(Math.floor(Math.log10(shortest)), areWhole ? 0 : -Infinity);
  const digit = VALUE_STEPS.find((step) => numberOf(step, power) >= shortest) ?? 10;
  const step = numberOf(digit, power);
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)];
  const at = Array.from({ length: last - first + 1 }, (_, n) =>
    numberOf((first + n) * digit, power),
  );
  return { at, decimals: Math.max(0, digit === 10 ? -power - 1 : -power) };
}

/** Read as text, because 3 * 0.1 is 0.30000000000000004. */
const numberOf = (digits: number, power: number): number => Number(`${digits}e${power}`);
