import { withoutTrailing } from '../schemas/digits.ts';

/** `numeric` as Postgres prints it (`10.500000000000000000`), without its trailing zeros (`10.5`). */
export function canonicalDecimal(text: string): string {
  if (!text.includes('.')) return text;
  const trimmed = withoutTrailing(withoutTrailing(text, '0'), '.');
  return trimmed === '-0' ? '0' : trimmed;
}
