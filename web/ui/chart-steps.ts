const DAY = 86_400;
/** Digits of the largest number that a chart may have. */
const DECIMALS_MAX = 40;
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

/** Whole distances between labels if every value is whole, so that no label is half an event; else null. */
export function wholeSteps(values: readonly (string | null)[]): number[] | null {
  if (values.some((value) => value !== null && value.includes('.'))) return null;
  return Array.from({ length: DECIMALS_MAX }, (_, power) =>
    [1, 2, 2.5, 5].map((digit) => Number(`${digit}e${power}`)),
  )
    .flat()
    .filter(Number.isInteger);
}
