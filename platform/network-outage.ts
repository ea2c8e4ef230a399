/** Error codes of Node and of the system for a peer that is unreachable or has disconnected. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN',
  'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SOCKET_CLOSED', 'ERR_SOCKET_CONNECTION_TIMEOUT',
]); // prettier-ignore

/**
 * Whether a connection failed or was lost. The outage classifier of each driver starts with this check. It
 * lists outages, never non-outages: an unknown error counts as a bug, because a bug that is treated as an
 * outage is retried without end.
 */
export function isNetworkOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // One error for each address that was tried.
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.every(isNetworkOutage);
  return NETWORK_CODES.has(errorCode(error));
}

/** The code of an error, or an empty text. */
export function errorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}
