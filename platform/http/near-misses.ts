import { z } from 'zod';
import { CLIENT_WORDS } from '../../domain/client-words.ts';
import { BillingError, DETAILS_MAX } from '../../domain/errors.ts';
import { nearMiss } from '../../domain/near-miss.ts';
import { fieldMeant } from '../../domain/words-of-other-routes.ts';

/** A key that a request does not know, with the known keys of the same object and what the object holds. */
export interface UnknownKey {
  readonly path: string;
  readonly key: string;
  readonly siblings: readonly string[];
  readonly sent: Readonly<Record<string, unknown>>;
}

/**
 * Throws 400 if a key is another route's word for a field that the body knows and does not hold, or a
 * misspelling of a key that the body knows. Any other key that has a meaning elsewhere in the API, or that
 * existing clients send, is accepted (api 38, api 57). `isEchoed`: whether the client repeats a key of an
 * answer; such a key is never another route's word.
 */
export function refuseNearMisses(
  unknown: readonly UnknownKey[],
  isWord: (key: string) => boolean = () => false,
  isEchoed: (key: UnknownKey) => boolean = () => false,
): void {
  const details = unknown.flatMap((each) => {
    const { path, key, siblings } = each;
    const elsewhere = isEchoed(each) ? null : fieldMeant(key, siblings, each.sent);
    const isKnownWord = CLIENT_WORDS.has(key) || isWord(key);
    const meant = elsewhere ?? (isKnownWord ? null : nearMiss(key, siblings));
    if (meant === null) return [];
    const message = `is not a field of this request; did you mean "${meant}"?`;
    return [{ path, code: 'unknown_field', message }];
  });
  const first = details[0];
  if (first === undefined) return;
  const more = details.length === 1 ? '' : ` (and ${details.length - 1} more)`;
  throw new BillingError(
    'invalid',
    'validation_error',
    `${first.path}: ${first.message}${more}`,
    details.slice(0, DETAILS_MAX),
    details.length,
  );
}

interface Described {
  readonly body?: z.ZodType;
  readonly query?: z.ZodType;
  readonly answer: z.ZodType | null;
}

/** The names of all keys in requests and answers of the routes, at any depth. */
export function wordsOf(routes: readonly Described[]): ReadonlySet<string> {
  const words = new Set<string>();
  const seen = new Set<unknown>();
  const visit = (schema: unknown): void => {
    if (!(schema instanceof z.ZodType) || seen.has(schema)) return;
    seen.add(schema);
    if (schema instanceof z.ZodObject)
      for (const [key, inner] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
        words.add(key);
        visit(inner);
      }
    else if (schema instanceof z.ZodLazy) visit(schema.unwrap());
    else
      // All parts of a schema are in its definition: element, options, in and out, value type …
      for (const part of Object.values(schema.def)) [part].flat().forEach(visit);
  };
  for (const { body, query, answer } of routes) [body, query, answer].forEach(visit);
  return words;
}
