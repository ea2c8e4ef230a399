/** Result of one check. */
export interface Check {
  readonly name: string;
  /** The finding, in a few words. */
  readonly found: string;
  /** The remedy; null if nothing is wrong. */
  readonly mend: string | null;
}

export const fine = (name: string, found: string): Check => ({ name, found, mend: null });

/** `mend` is used only if something is wrong. */
export const check = (name: string, found: string, isWrong: boolean, mend: string): Check => ({
  name,
  found,
  mend: isWrong ? mend : null,
});
