import assert from 'node:assert/strict';
import type { FastifyRequest } from 'fastify';
import type { Identity } from '../identity/identity.ts';

const identities = new WeakMap<FastifyRequest, Identity>();

export const keepIdentity = (request: FastifyRequest, identity: Identity): void =>
  void identities.set(request, identity);

/** The caller, or null if the request was refused before its caller was known. */
export const findIdentity = (request: FastifyRequest): Identity | null =>
  identities.get(request) ?? null;

/** The caller of an admitted request. Every declared route admits its caller before anything else. */
export function identityOf(request: FastifyRequest): Identity {
  const identity = identities.get(request);
  assert(identity !== undefined, 'the request was not admitted');
  return identity;
}
