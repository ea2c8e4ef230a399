/** A version of a meter, as input of the choice for billing. */
export interface MeterVersionChoice {
  readonly id: string;
  /** 1 for the first, ascending. */
  readonly version: number;
  readonly dimensions: readonly string[];
  /**
   * Usage is complete when this is `complete`. `set_aside`: the version was used and no longer counts usage.
   */
  readonly backfill_state: string;
  readonly created_at: string;
  /**
   * The first period start to which a requested edit applies. Null means periods that begin after the edit.
   */
  readonly effective_from: string | null;
}

/** Billing periods that begin at or after this instant use the version, unless a newer version applies. */
export const effectiveFrom = (
  version: Pick<MeterVersionChoice, 'created_at' | 'effective_from'>,
): string => version.effective_from ?? version.created_at;

/**
 * The version that rates usage of a period that begins at `periodStart`: the newest applicable version with
 * complete usage and with every dimension that the question names. An edit applies from the next billing
 * period, or from the requested date. One version rates a whole period, so a date inside a period means the
 * next period. Periods before all versions use the first. Null while no version is complete: a number read
 * now would be partial (metering 6).
 *
 * When that version is set aside, the next complete version takes over its periods. Until one exists, the
 * set-aside version is returned and the caller refuses with its reason: an older version counts something
 * else.
 */
export function versionForPeriod<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  dimensions: readonly string[],
  periodStart: string,
): Version | null {
  const isWhole = (version: Version): boolean => version.backfill_state === 'complete';
  const usable = withDimensions(versions, dimensions).filter(
    (version) => isWhole(version) || version.backfill_state === 'set_aside',
  );
  const applying = versionApplying(usable, periodStart);
  if (applying === null || isWhole(applying)) return applying;
  const later = usable.filter((other) => other.version > applying.version && isWhole(other));
  return later.toSorted((left, right) => left.version - right.version)[0] ?? applying;
}

/**
 * The version that answers a question about the period with a number that is shown and never billed: the one
 * that rates the period, else, while no version is complete, the one that will. The usage rows of the latter are
 * partial: the caller reads the events instead. Null if no version has every dimension.
 */
export function versionToShow<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  dimensions: readonly string[],
  periodStart: string,
): Version | null {
  return (
    versionForPeriod(versions, dimensions, periodStart) ??
    versionApplying(withDimensions(versions, dimensions), periodStart)
  );
}

/**
 * The newest version that applied when the period began; for periods before all versions the first; null
 * without versions.
 */
export function versionApplying<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  periodStart: string,
): Version | null {
  const ascending = versions.toSorted((left, right) => left.version - right.version);
  const applying = ascending.findLast((version) => effectiveFrom(version) <= periodStart);
  return applying ?? ascending[0] ?? null;
}

/**
 * The edit that will rate the period and is not complete yet; null if there is none. A final invoice waits for
 * it: the older version counts something else (metering 6).
 */
export function unfinishedEdit<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  dimensions: readonly string[],
  periodStart: string,
): Version | null {
  const applying = versionApplying(withDimensions(versions, dimensions), periodStart);
  if (applying === null) return null;
  const { backfill_state } = applying;
  return backfill_state === 'complete' || backfill_state === 'set_aside' ? null : applying;
}

const withDimensions = <Version extends MeterVersionChoice>(
  versions: readonly Version[],
  dimensions: readonly string[],
): Version[] =>
  versions.filter(({ dimensions: known }) => dimensions.every((name) => known.includes(name)));
