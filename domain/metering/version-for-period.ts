/** A version of a meter as billing chooses among them. */
export interface MeterVersionChoice {
  readonly id: string;
  /** 1 for the first, ascending. */
  readonly version: number;
  readonly dimensions: readonly string[];
  /** Usage of a version is whole once its backfill is complete. */
  readonly backfill_state: string;
  readonly created_at: string;
}

/**
 * The version that rates usage of a period that begins at `periodStart`: among those whose usage is
 * whole and that keep every dimension the question names, the newest that existed by then, because an
 * edit applies from the next billing period; for periods before all of them, the first. Null while no
 * version is whole: a number read now would be partial (metering 6).
 */
export function versionForPeriod<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  dimensions: readonly string[],
  periodStart: string,
): Version | null {
  const whole = versions
    .filter((version) => version.backfill_state === 'complete')
    .filter((version) => dimensions.every((name) => version.dimensions.includes(name)))
    .sort((left, right) => left.version - right.version);
  return whole.findLast((version) => version.created_at <= periodStart) ?? whole[0] ?? null;
}
