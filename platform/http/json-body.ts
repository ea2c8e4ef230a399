import { isUtf8 } from 'node:buffer';
import type { ContentTypeParserDoneFunction } from 'fastify/types/content-type-parser.js';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BillingError, invalidField } from '../../domain/errors.ts';
import { bodyDecoder } from './decode-body.ts';
import { assertFewValues, assertOneReading, endOfFirstValue } from './json-text.ts';
import { fieldPath } from './parse.ts';

const DEPTH_MAX = 16;

const followedByText = new WeakSet<FastifyRequest>();

/** Whether text follows the JSON value of the body. It is ignored. */
export const hasTextAfterBody = (request: FastifyRequest): boolean => followedByText.has(request);

/**
 * Reads `application/json` bodies, encoded or not. Text after the value is ignored. An empty body is
 * `undefined` (clients send a content type with DELETE and with actions that take no body), and `null` is an
 * empty object. Refused: `__proto__` and `constructor.prototype`, ambiguous JSON, and values that no store
 * can keep: nesting deeper than 16, the character NUL, and halves of surrogate pairs. Bodies of more than 20,000
 * values are refused before they are parsed.
 */
export function readJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('ignore', 'ignore');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  const take = (request: FastifyRequest, bytes: Buffer, done: ContentTypeParserDoneFunction) => {
    if (!isUtf8(bytes)) return done(badJson('it is not UTF-8'));
    const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
    if (text.trim() === '') return done(null, undefined);
    try {
      assertFewValues(text);
    } catch (refusal) {
      return done(refusal as Error);
    }
    const takeValue = (first: string) =>
      parse(request, first, (error, value: unknown) => {
        if (error !== null) return retryWithoutRest(first, error);
        try {
          assertStorable(value, 'body');
          assertOneReading(first);
          done(null, value === null ? {} : value);
        } catch (refusal) {
          done(refusal as Error);
        }
      });
    const retryWithoutRest = (whole: string, error: Error) => {
      const end = endOfFirstValue(whole);
      if (whole.slice(end).trim() === '') return done(badJson(error.message));
      followedByText.add(request);
      void takeValue(whole.slice(0, end));
    };
    void takeValue(text);
  };
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (takesRawJson(request)) return done(null, body);
    try {
      const { bodyLimit } = request.routeOptions;
      const decode = bodyDecoder(request.headers['content-encoding'], bodyLimit);
      if (decode === null) return take(request, body as Buffer, done);
      decode(body as Buffer).then((bytes) => take(request, bytes, done), done);
    } catch (refusal) {
      done(refusal as Error);
    }
  });
}

/** Whether the route verifies a signature over the bytes: it gets them as they were sent. */
const takesRawJson = ({ routeOptions }: FastifyRequest): boolean =>
  (routeOptions.config as { readonly rawJson?: boolean }).rawJson === true;

const badJson = (message: string): BillingError =>
  new BillingError('invalid', 'validation_error', `The body is not readable JSON: ${message}`);

// With the u flag, a lone surrogate matches and a pair does not.
const UNSTORABLE = /[\u0000\p{Surrogate}]/u;
const UNSTORABLE_TEXT = 'has text that cannot be stored: NUL, or half of a surrogate pair';

/** Keys by which copied values could change what every object inherits. */
const changesPrototype = (key: string, value: unknown): boolean =>
  key === '__proto__' ||
  (key === 'constructor' &&
    typeof value === 'object' &&
    value !== null &&
    Object.hasOwn(value, 'prototype'));

interface Place {
  readonly value: unknown;
  readonly depth: number;
  readonly key: string | number | null;
  readonly parent: Place | null;
}

/**
 * Throws 400 for values that Postgres would refuse and for keys that could change prototypes, with the field. A
 * key that cannot be stored is named by the object that has it. Iterative, because it guards against depth.
 * `where` names the whole value.
 */
export function assertStorable(root: unknown, where: string): void {
  const pending: Place[] = [{ value: root, depth: 0, key: null, parent: null }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value, depth } = place;
    if (typeof value === 'string') {
      if (UNSTORABLE.test(value)) throw invalidField(pathOf(place, where), UNSTORABLE_TEXT);
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= DEPTH_MAX)
        throw invalidField(pathOf(place, where), `is nested deeper than ${DEPTH_MAX}`);
      const isList = Array.isArray(value);
      for (const [key, inner] of Object.entries(value)) {
        if (UNSTORABLE.test(key)) throw invalidField(pathOf(place, where), UNSTORABLE_TEXT);
        const step = isList ? Number(key) : key;
        const child: Place = { value: inner, depth: depth + 1, key: step, parent: place };
        if (changesPrototype(key, inner))
          throw invalidField(pathOf(child, where), 'is not allowed as a name');
        pending.push(child);
      }
    }
  }
}

function pathOf(place: Place, where: string): string {
  const path: (string | number)[] = [];
  for (let at: Place | null = place; at !== null; at = at.parent)
    if (at.key !== null) path.unshift(at.key);
  return path.length === 0 ? where : fieldPath(path);
}
