/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  /** What was found, in a few words. */
  readonly found: string;
  /** What mends it; null if nothing is wrong. */
  readonly mend: string | null;
}

export const fine = (name: string, found: string): Check => ({ name, found, mend: null });

/** `mend` counts only where something is wrong. */
export const check = (name: string, found: string, isWrong: boolean, mend: string): Check => ({
  name,
  found,
  mend: isWrong ? mend : null,
});
