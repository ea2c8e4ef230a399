/** One line of a chart. Values are exact text; pixels alone are drawn from floating-point numbers. */
export interface Series {
  readonly name: string;
  readonly values: readonly (string | null)[];
}
