/**
 * The length of a text in characters. A character is a Unicode code point, as in `maxLength` of the published schema
 * and in zod: "😀" is one, although JavaScript's `length` of it is 2.
 */
export const charactersOf = (text: string): number => [...text].length;

/** Whether a text has more than `max` characters. Counts them only if the result depends on it. */
export const isLongerThan = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || charactersOf(text) > max);
