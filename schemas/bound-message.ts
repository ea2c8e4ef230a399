import type { z } from 'zod';
import { charactersOf } from './text-length.ts';

/** Of a longer text the UTF-16 units are named: to count its characters takes time and memory. */
const COUNTED_MAX = 10_000;

/**
 * The words for a length or a number outside its bounds: they name the bound and what was sent. Undefined for
 * all other problems. An error map of zod, for the API and for the forms of the console.
 */
export const boundMessage: z.core.$ZodErrorMap = (issue) => {
  const isSmall = issue.code === 'too_small';
  if (!isSmall && issue.code !== 'too_big') return undefined;
  const { exact, inclusive, input } = issue;
  const bound = isSmall ? issue.minimum : issue.maximum;
  const side = isSmall ? 'at least' : 'at most';
  if (typeof input === 'number')
    return `must be ${inclusive ? side : isSmall ? 'greater than' : 'less than'} ${bound}, and is ${input}`;
  const isText = typeof input === 'string';
  if (!isText && !Array.isArray(input)) return undefined;
  const length = isText && input.length <= COUNTED_MAX ? charactersOf(input) : input.length;
  if (length === 0) return 'must not be empty';
  const unit = (isText ? 'character' : 'item') + (bound === 1 ? '' : 's');
  return `must have ${exact ? 'exactly' : side} ${bound} ${unit}, and has ${length}`;
};
