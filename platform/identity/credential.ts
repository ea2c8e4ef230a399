import type { IncomingHttpHeaders } from 'node:http';

/** What a caller sends to be known. */
export interface Credential {
  readonly kind: 'key' | 'token';
  readonly value: string;
}

/**
 * `x-api-key`, or `Authorization: Bearer` with a key or with a session's token, which has three parts.
 * When both headers are sent the key decides: a bad one is not made good by the other.
 */
export function credentialOf(headers: IncomingHttpHeaders): Credential | null {
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return { kind: 'key', value: key };
  const bearer = /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (bearer === undefined) return null;
  return { kind: bearer.split('.').length === 3 ? 'token' : 'key', value: bearer };
}

/** The environment that a person names, who is not bound to one as a key is; null when none is named. */
export function environmentOf(headers: IncomingHttpHeaders): string | null {
  const named = headers['x-environment-id'];
  return typeof named === 'string' && named !== '' ? named : null;
}
