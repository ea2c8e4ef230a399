/**
 * Whether a text has more than `max` characters. A character is a Unicode code point, as in `maxLength` of the
 * published schema: "😀" is one, although JavaScript's `length` of it is 2.
 */
export const isLongerThan = (text: string, max: number): boolean =>
  text.length > max && (text.length > 2 * max || [...text].length > max);
