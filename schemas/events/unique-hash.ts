import { hash } from 'node:crypto';

/**
 * One value of a COUNT_UNIQUE meter as 128 bits, 32 lower-case hexadecimal digits: the first half of
 * SHA-256 over its UTF-8. Never changes: stored rows contain it.
 */
export const uniqueHash = (text: string): string => hash('sha256', text, 'hex').slice(0, 32);
