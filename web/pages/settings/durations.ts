import { formatDecimal } from '../../ui/text.ts';

/** A time as a form holds it. */
export interface HeldDuration {
  /** Decimal text; empty if it is not set. */
  readonly amount: string;
  readonly unit: string;
}

/** Seconds of each unit, the longest first. */
const SECONDS: Readonly<Record<string, number>> = {
  days: 86_400,
  hours: 3_600,
  minutes: 60,
  seconds: 1,
};

export const TIME_UNITS = Object.keys(SECONDS).map(
  (unit) => [unit, unit.charAt(0).toUpperCase() + unit.slice(1)] as const,
);

/** In the longest unit in which the seconds are a whole number; not set: no amount, in hours. */
export function durationOf(seconds: unknown): HeldDuration {
  if (typeof seconds !== 'number') return { amount: '', unit: 'hours' };
  const [unit, each] = Object.entries(SECONDS).find(([, of]) => seconds % of === 0)!;
  return { amount: String(seconds / each), unit: seconds === 0 ? 'hours' : unit };
}

/** The time in words: `30 days`, `1 hour`. */
export function durationText(seconds: number): string {
  const { amount, unit } = durationOf(seconds);
  return `${formatDecimal(amount)} ${amount === '1' ? unit.slice(0, -1) : unit}`;
}

/** Whole seconds; undefined if it is not set. Other text stays as it is, so that the schema refuses it. */
export function secondsOf({ amount, unit }: HeldDuration): number | string | undefined {
  const text = amount.trim();
  if (text === '') return undefined;
  const [, sign = '', whole = '', part = ''] = /^(-?)(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === '') return text;
  // In units of the last decimal, so that 0.1 hours are 360 seconds exactly.
  const scale = 10 ** part.length;
  const scaled = Number.parseInt(sign + whole + part, 10) * SECONDS[unit]!;
  return scaled % scale === 0 ? scaled / scale : text;
}
