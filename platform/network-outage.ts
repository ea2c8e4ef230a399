/** Codes of Node and of the system for a peer that cannot be reached, or that went away. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN',
  'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SOCKET_CLOSED', 'ERR_SOCKET_CONNECTION_TIMEOUT',
]); // prettier-ignore

/**
 * Whether a connection could not be made or was lost. The classifier of each driver begins with it.
 * A list of what is an outage, never of what is not: an unknown error is a bug, because a bug that is
 * repeated as an outage is repeated for ever.
 */
export function isNetworkOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // One error for each address of a name that was tried.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every(isNetworkOutage);
  return NETWORK_CODES.has(errorCode(error));
}

/** The code of an error, or an empty text. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
