import { formatWord } from '../ui/text.ts';
import type { Method } from './queries.ts';

/** `Visa ending in 4242`. */
export const methodInWords = ({ brand, method_type, last4 }: Method): string => {
  const name = formatWord(brand ?? method_type ?? 'Card');
  return last4 === null || last4 === '' ? name : `${name} ending in ${last4}`;
};

/** `12/2030`; null without one. */
export const expiryOf = ({ exp_month, exp_year }: Method): string | null =>
  exp_month === null || exp_year === null
    ? null
    : `${String(exp_month).padStart(2, '0')}/${exp_year}`;
