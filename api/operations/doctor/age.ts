/** Seconds in the unit that says them shortly: `90 s`, `5 min`, `26 h`. */
export function age(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
