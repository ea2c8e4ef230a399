/** A version of a meter as billing chooses among them. */
export interface MeterVersionChoice {
  readonly id: string;
  /** 1 for the first, ascending. */
  readonly version: number;
  readonly dimensions: readonly string[];
  /** Usage is whole once this is `complete`. `set_aside`: it was used, and counts nothing any more. */
  readonly backfill_state: string;
  readonly created_at: string;
  /** From which periods on an edit was asked to apply. Null: from those that begin after it was made. */
  readonly effective_from: string | null;
}

/** Billing periods that begin at or after this are the version's, unless a newer one has them. */
export const effectiveFrom = (
  version: Pick<MeterVersionChoice, 'created_at' | 'effective_from'>,
): string => version.effective_from ?? version.created_at;

/**
 * The version that rates usage of a period that begins at `periodStart`: among those whose usage is
 * whole and that keep every dimension the question names, the newest that applies by then: an edit
 * applies from the next billing period, or from the date that was asked for. A period is rated by one
 * version, so a date inside of it means the next one; for periods before all of them, the first. Null while no
 * version is whole: a number read now would be partial (metering 6).
 *
 * Where that version is set aside, the next one that is whole takes its periods. Until there is one, the
 * version that is set aside is returned, for the caller to refuse with its reason: an older version counts
 * something else.
 */
export function versionForPeriod<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  dimensions: readonly string[],
  periodStart: string,
): Version | null {
  const isWhole = (version: Version): boolean => version.backfill_state === 'complete';
  const usable = versions
    .filter((version) => isWhole(version) || version.backfill_state === 'set_aside')
    .filter((version) => dimensions.every((name) => version.dimensions.includes(name)));
  const applying = versionApplying(usable, periodStart);
  if (applying === null || isWhole(applying)) return applying;
  const later = usable.filter((other) => other.version > applying.version && isWhole(other));
  return later.toSorted((left, right) => left.version - right.version)[0] ?? applying;
}

/** The newest that applied when the period began; for periods before all of them the first, null of none. */
export function versionApplying<Version extends MeterVersionChoice>(
  versions: readonly Version[],
  periodStart: string,
): Version | null {
  const ascending = versions.toSorted((left, right) => left.version - right.version);
  const applying = ascending.findLast((version) => effectiveFrom(version) <= periodStart);
  return applying ?? ascending[0] ?? null;
}
