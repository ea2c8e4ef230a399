import type { IncomingHttpHeaders } from 'node:http';

/** What a caller sends to authenticate. */
export interface Credential {
  readonly kind: 'key' | 'token';
  readonly value: string;
}

/**
 * `x-api-key`, or `Authorization: Bearer` with a key or with a session's token, which has three parts. If
 * both headers are sent, the key is used; a valid token does not make up for an invalid key.
 */
export function credentialOf(headers: IncomingHttpHeaders): Credential | null {
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return { kind: 'key', value: key };
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer === undefined) return null;
  return { kind: bearer.split('.').length === 3 ? 'token' : 'key', value: bearer };
}

/**
 * The environment that a person selects, because a person, unlike a key, is not bound to one; null if none is
 * named.
 */
export function environmentOf(headers: IncomingHttpHeaders): string | null {
  const named = headers['x-environment-id'];
  return typeof named === 'string' && named !== '' ? named : null;
}
