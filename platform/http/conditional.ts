import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { BillingError } from '../../domain/errors.ts';
import type { Route } from './route.ts';

/**
 * Conditional requests (api 2): answers that are one record carry an `ETag`; a PUT or
 * DELETE with `If-Match` happens only to the version that the caller has seen, and is 412 otherwise.
 */
export interface Condition {
  /** The tags of `If-Match`; null for `*`, which any existing record matches. */
  readonly tags: readonly string[] | null;
  /** The route that answers the record which is about to be written. */
  readonly read: Route;
}

/** Under this level a record that changed after it was compared can not be written any more. */
export const CONDITION_ISOLATION = 'isolation level repeatable read';

/**
 * The tag of a record, or null for an answer that is none. The version where there is one; otherwise a
 * hash of the record's own plain fields that are set, `updated_at` among them, so that what `expand` embeds
 * does not change it.
 */
export function etagOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null;
  const record = body as Record<string, unknown>;
  if (typeof record['version'] === 'number') return `"${record['version']}"`;
  if (typeof record['updated_at'] !== 'string') return null;
  const own = Object.entries(record)
    .filter(([, value]) => typeof value !== 'object')
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(own)).digest('base64url');
  return `"${hash.slice(0, 22)}"`;
}

/** Whether a PUT or DELETE can be conditional: the same path can be read, and names one record. */
export const readerOf = (
  route: Pick<Route, 'method' | 'path'>,
  routes: readonly Pick<Route, 'method' | 'path'>[],
): number =>
  (route.method === 'PUT' || route.method === 'DELETE') && route.path.endsWith('}')
    ? routes.findIndex(({ method, path }) => method === 'GET' && path === route.path)
    : -1;

/** The condition of a request; null without `If-Match`. 400 where the route can not be conditional. */
export function conditionOf(
  route: Pick<Route, 'method'>,
  read: Route | null,
  request: FastifyRequest,
): Condition | null {
  const given = request.headers['if-match'];
  if (given === undefined || (route.method !== 'PUT' && route.method !== 'DELETE')) return null;
  if (read === null) throw badHeader('is not taken here: nothing with a version is written');
  const tags = tagsOf(given);
  if (tags !== null && tags.length === 0)
    throw badHeader('expected an ETag in quotes, as an answer showed it, or *');
  return { tags, read };
}

/** Throws 412 unless the record, as it is now, has one of the tags. */
export function assertMatches({ tags }: Condition, record: unknown): void {
  const tag = etagOf(record);
  if (tag === null) throw badHeader('is not taken here: the record has no version');
  if (tags !== null && !tags.includes(tag)) throw preconditionFailed(tag);
}

export function preconditionFailed(tag: string | null): BillingError {
  const now = tag === null ? '' : ` It is ${tag} now.`;
  const message = `The record was changed since the version in If-Match.${now} Read it again.`;
  return new BillingError('precondition_failed', 'precondition_failed', message, [
    { path: 'If-Match', code: 'precondition_failed', message: 'names another version' },
  ]);
}

/** Whether the caller has this version already. Weak tags compare as strong ones here. */
export function isKnown(request: FastifyRequest, tag: string): boolean {
  const given = request.headers['if-none-match'];
  if (given === undefined) return false;
  const tags = tagsOf(given.replace(/W\//g, ''));
  return tags === null || tags.includes(tag);
}

/** Null for `*`. Weak tags match nothing here (RFC 9110, 13.1.1). */
function tagsOf(header: string): string[] | null {
  if (header.trim() === '*') return null;
  return [...header.matchAll(/(W\/)?("[\x21\x23-\x7e]*")/g)].flatMap(([, weak, tag]) =>
    weak === undefined ? tag! : `weak ${tag}`,
  );
}

function badHeader(message: string): BillingError {
  return new BillingError('invalid', 'validation_error', `If-Match: ${message}`, [
    { path: 'If-Match', code: 'invalid_value', message },
  ]);
}
