import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { BillingError } from '../../domain/errors.ts';
import type { Route } from './route.ts';

/**
 * Conditional requests (api 2): answers that are one record carry an `ETag`. A PUT or DELETE
 * with `If-Match` applies only to the version that the caller has read; otherwise it gets 412.
 */
export interface Condition {
  /** The tags of `If-Match`; null means `*`, which matches any existing record. */
  readonly tags: readonly string[] | null;
  /** The route that reads the record to be written. */
  readonly read: Route;
}

/** At this isolation level, a record that changed after the comparison can no longer be written. */
export const CONDITION_ISOLATION = 'isolation level repeatable read';

/**
 * The tag of an answer that is a record, or null: `"<version of the record>.<hash of the whole answer>"`. The
 * first part is the same for every `expand`, and `If-Match` compares only it. `If-None-Match` compares the
 * whole tag, because records embedded in the answer change without the record itself.
 */
export function etagOf(body: unknown): string | null {
  const version = versionOf(body);
  return version === null ? null : `"${version}.${hashOf(body)}"`;
}

/** The record's own version: its number if it has one, else a hash of its plain fields that are set. */
function versionOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null;
  const record = body as Record<string, unknown>;
  if (typeof record['version'] === 'number') return `${record['version']}`;
  if (typeof record['updated_at'] !== 'string') return null;
  return hashOf(
    Object.entries(record)
      .filter(([, value]) => typeof value !== 'object')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/** The part of a tag that names the version of the record. */
const versionIn = (tag: string): string => tag.replace(/^"|"$/g, '').split('.', 1)[0]!;

/** The GET route of the same path if it names one record: a PUT or DELETE can then be conditional. */
export const readerOf = (
  route: Pick<Route, 'method' | 'path'>,
  routes: readonly Pick<Route, 'method' | 'path'>[],
): number =>
  (route.method === 'PUT' || route.method === 'DELETE') && route.path.endsWith('}')
    ? routes.findIndex(({ method, path }) => method === 'GET' && path === route.path)
    : -1;

/** The condition of a request; null without `If-Match`. 400 if the route cannot be conditional. */
export function conditionOf(
  route: Pick<Route, 'method'>,
  read: Route | null,
  request: FastifyRequest,
): Condition | null {
  const given = request.headers['if-match'];
  if (given === undefined || (route.method !== 'PUT' && route.method !== 'DELETE')) return null;
  if (read === null)
    throw badHeader('is not accepted here: the route writes no record with a version');
  const tags = tagsOf(given);
  if (tags !== null && tags.length === 0)
    throw badHeader('expected an ETag in quotes, as an answer showed it, or *');
  return { tags, read };
}

/** Throws 412 unless the current record has one of the tags. */
export function assertMatches({ tags }: Condition, record: unknown): void {
  const tag = etagOf(record);
  if (tag === null) throw badHeader('is not accepted here: the record has no version');
  if (tags !== null && !tags.some((given) => versionIn(given) === versionIn(tag)))
    throw preconditionFailed(tag);
}

export function preconditionFailed(tag: string | null): BillingError {
  const now = tag === null ? '' : ` It is ${tag} now.`;
  const message = `The record was changed since the version in If-Match.${now} Read it again.`;
  return new BillingError('precondition_failed', 'precondition_failed', message, [
    { path: 'If-Match', code: 'precondition_failed', message: 'names another version' },
  ]);
}

/** Whether the caller already has this version. Weak tags compare as strong ones here. */
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
