import type { FastifyRequest } from 'fastify';

const codes = new WeakMap<FastifyRequest, string>();

export const keepErrorCode = (request: FastifyRequest, code: string): void =>
  void codes.set(request, code);

/** The code of the error that the request was answered with; null after a success. */
export const errorCodeOf = (request: FastifyRequest): string | null => codes.get(request) ?? null;
