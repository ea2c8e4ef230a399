import type { FastifyInstance } from 'fastify';
import { BillingError } from '../../domain/errors.ts';

const DEPTH_MAX = 16;

/**
 * Reads `application/json` bodies. An empty body is `undefined` (clients send a content type with
 * DELETE and with actions that take no body), `null` is an empty object, `__proto__` and
 * `constructor.prototype` are refused, and so is what no store can keep: nesting deeper than 16, the
 * character NUL, and halves of surrogate pairs.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body as string;
    if (text.trim() === '') return done(null, undefined);
    parse(request, text, (error, value) => {
      if (error !== null) return done(badJson(error.message));
      try {
        assertStorable(value, 'body');
        done(null, value === null ? {} : value);
      } catch (refusal) {
        done(refusal as Error);
      }
    });
  });
}

const badJson = (message: string): BillingError =>
  new BillingError(
    'invalid',
    'validation_error',
    `The body is no JSON that can be read: ${message}`,
  );

const badText = (where: string): BillingError =>
  new BillingError(
    'invalid',
    'validation_error',
    `The ${where} has text that can not be stored: NUL, or half of a surrogate pair.`,
  );

// A lone surrogate matches under the u flag, a pair does not.
const UNSTORABLE = /[\u0000\p{Surrogate}]/u;

/** Throws 400 for values that Postgres would refuse. Iterative: depth is what it guards against. */
export function assertStorable(root: unknown, where: string): void {
  const pending: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string') {
      if (UNSTORABLE.test(value)) throw badText(where);
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= DEPTH_MAX) throw badJson(`nested deeper than ${DEPTH_MAX}`);
      for (const [key, inner] of Object.entries(value)) {
        if (UNSTORABLE.test(key)) throw badText(where);
        pending.push({ value: inner, depth: depth + 1 });
      }
    }
  }
}
