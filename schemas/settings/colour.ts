import { matching } from '../primitives.ts';

/** A hexadecimal colour: it becomes a style of hosted pages and documents. */
export const colour = matching(/^#[0-9a-fA-F]{6}$/, 7, 'expected a colour such as #1d4ed8');
