/** The text without this character at its end. A pattern such as `/0+$/` is tried at every place of a text. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}

/** Digits of a written number between its first and its last that is not zero, those of the exponent left out. */
export function significantDigits(written: string): number {
  const [mantissa = ''] = written.toLowerCase().split('e', 1);
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '');
  return withoutTrailing(digits, '0').length;
}
