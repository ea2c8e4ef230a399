/**
 * The text without this character at its end. Used because a pattern such as `/0+$/` is tried at every
 * position of the text.
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** Number of digits from the first to the last nonzero digit of a written number, without its exponent. */
export function significantDigits(written: string): number {
  const [mantissa = ''] = written.toLowerCase().split('e', 1);
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '');
  return withoutTrailing(digits, '0').length;
}
