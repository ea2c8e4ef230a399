import type { z } from 'zod';

type Side = 'at least' | 'at most';

const COUNTED_MAX = 10_000;

/**
 * The words for a length or a number outside its bounds: they name the bound and what was sent. Undefined for
 * all other problems. An error map of zod, for the API and for the forms of the console.
 */
export const boundMessage: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'too_small') return messageOf('at least', issue.minimum, issue);
  if (issue.code === 'too_big') return messageOf('at most', issue.maximum, issue);
  return undefined;
};

function messageOf(
  side: Side,
  bound: number | bigint,
  issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>,
): string | undefined {
  const { input } = issue;
  if (typeof input === 'string')
    return ofLength(side, bound, issue, characters(input), 'character');
  if (Array.isArray(input)) return ofLength(side, bound, issue, input.length, 'item');
  if (typeof input !== 'number') return undefined;
  const words = issue.inclusive ? side : side === 'at least' ? 'greater than' : 'less than';
  return `must be ${words} ${bound}, and is ${input}`;
}

/** Counted as zod and the published schema count them: "😀" is one. Of a very long text only the units are counted. */
const characters = (text: string): number =>
  text.length > COUNTED_MAX ? text.length : [...text].length;

function ofLength(
  side: Side,
  bound: number | bigint,
  { exact }: { readonly exact?: boolean | undefined },
  length: number,
  unit: string,
): string {
  if (length === 0) return 'must not be empty';
  const words = exact ? 'exactly' : side;
  return `must have ${words} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}, and has ${length}`;
}
