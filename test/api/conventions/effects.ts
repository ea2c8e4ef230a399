import type { TestAnswer } from '../../support/api.ts';

/** What a request with a field did, next to the same request without it. */
export type Effect =
  /** Nothing; refused by name; more than the field itself; only the field itself is answered back. */
  'none' | 'refused' | 'wider' | 'echo' | { readonly failed: unknown };

/** The answer to a request, and everything that is looked at to see its effect. */
export interface Seen {
  readonly answer: TestAnswer;
  readonly views: readonly unknown[];
}

/** `second` is the value of the field. A refusal names the field, or the record that the value names. */
export function effectOf(field: string, second: unknown, without: Seen, having: Seen): Effect {
  const { answer } = having;
  if (answer.status >= 400) {
    const details = (answer.body.details ?? []) as { path: string }[];
    const isNamed =
      details.some(({ path }) => path.startsWith(field)) ||
      (typeof second === 'string' &&
        String(answer.body.message).toLowerCase().includes(second.toLowerCase()));
    return isNamed ? 'refused' : { failed: answer.body };
  }
  const changed = differences(without.views, having.views).filter((path) => !COUNTED.test(path));
  if (changed.length === 0) return 'none';
  const own = new RegExp(`\\.${field}(\\.|$)`);
  return changed.every((path) => own.test(path)) ? 'echo' : 'wider';
}

/** Paths at which two answers differ, apart from ids and what the test counts. */
export function differences(left: unknown, right: unknown, path = ''): string[] {
  if (isMap(left) && isMap(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return keys.flatMap((key) => differences(left[key], right[key], `${path}.${key}`));
  }
  return plain(left) === plain(right) ? [] : [path];
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Ids, numbers of documents and counted names are new in every record. */
const plain = (value: unknown): string =>
  JSON.stringify(value ?? null)
    .replace(/\b([a-z_]+)_[0-9A-HJKMNP-TV-Z]{26}\b/g, '$1')
    .replace(/\b(INV|CN)-[0-9-]+/g, '$1')
    .replace(/\b(c|calls)_\d+/g, '$1')
    .replace(/~\d+/g, '~');

const COUNTED = /\.(sequence|synced_price_sequence|billing_sequence|request_fingerprint)$/;
