/** A number in decimal text with a comma between thousands; only digits before the point are grouped. */
export function withThousands(text: string): string {
  const [whole = '', ...fraction] = text.split('.');
  const sign = whole.startsWith('-') ? '-' : '';
  const digits = whole.slice(sign.length);
  const first = digits.length % 3 || 3;
  const groups = [digits.slice(0, first)];
  for (let at = first; at < digits.length; at += 3) groups.push(digits.slice(at, at + 3));
  return [sign + groups.join(','), ...fraction].join('.');
}
