import assert from 'node:assert/strict';

/**
 * Wall-clock arithmetic without a zone. A `LocalMs` is the reading of a wall clock, as milliseconds
 * since 1970-01-01T00:00 on that clock; `zone.ts` maps it to instants. Our own code, because billing
 * computes boundaries by the hundred thousand and a calendar object costs 10 µs each. The tests compare
 * every function with Temporal and with luxon.
 */
export type LocalMs = number;

export const DAY_MS = 86_400_000;

/** Proleptic Gregorian. `month` starts at 1. */
export interface CivilDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The local date, as days since 1970-01-01. */
export function dayNumber(local: LocalMs): number {
  return Math.floor(local / DAY_MS);
}

export function startOfDay(local: LocalMs): LocalMs {
  return dayNumber(local) * DAY_MS;
}

/**
 * Converts days since 1970-01-01 to a date. Counts whole eras of 400 years from March, which puts the
 * leap day at the end of its year.
 */
export function civilDate(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}

/** The inverse of `civilDate`. */
export function daysOfDate(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/**
 * The same day and wall clock `months` later; the day is clamped to the last of the month (billing
 * 1.3).
 */
export function addMonths(local: LocalMs, months: number): LocalMs {
  assert(Number.isInteger(months), `${months} months`);
  const days = dayNumber(local);
  const { year, month, day } = civilDate(days);
  const index = year * 12 + month - 1 + months;
  const toYear = Math.floor(index / 12);
  const toMonth = index - toYear * 12 + 1;
  const clamped = Math.min(day, daysInMonth(toYear, toMonth));
  return daysOfDate(toYear, toMonth, clamped) * DAY_MS + (local - days * DAY_MS);
}

/** Months from year 0 to the local date, for computing differences. */
export function monthNumber(local: LocalMs): number {
  const { year, month } = civilDate(dayNumber(local));
  return year * 12 + month - 1;
}

/** 00:00 on the first of a month; `monthIndex` is a result of `monthNumber`. */
export function startOfMonth(monthIndex: number): LocalMs {
  const year = Math.floor(monthIndex / 12);
  return daysOfDate(year, monthIndex - year * 12 + 1, 1) * DAY_MS;
}

/** 00:00 on the Monday of the week (billing 2.4). */
export function startOfWeek(local: LocalMs): LocalMs {
  const days = dayNumber(local);
  // 1970-01-01 was a Thursday.
  const sinceMonday = (((days + 3) % 7) + 7) % 7;
  return (days - sinceMonday) * DAY_MS;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
