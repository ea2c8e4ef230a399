import type { components } from './openapi.d.ts';

type ErrorBody = components['schemas']['Error'];
type ErrorDetail = NonNullable<ErrorBody['details']>[number];

/** An answer of the API that is not a success: which field, what is wrong, what would be right. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ErrorDetail[];
  /** Finds the request in the logs of the service; null when no answer came. */
  readonly requestId: string | null;

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? `The server answered ${status}.`);
    this.name = 'Refusal';
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.details = body.details ?? [];
    this.requestId = body.request_id ?? null;
  }
}

/** The server could not be reached: the connection, not the request, is at fault. */
export const unreachable = (): Refusal =>
  new Refusal(0, {
    code: 'unreachable',
    message: 'The server cannot be reached. Check the connection and try again.',
  });
