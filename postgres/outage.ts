import postgres from 'postgres';
import { errorCode, isNetworkOutage } from '../platform/network-outage.ts';

/** The driver's error codes for a connection that failed to open, or that ended during a statement. */
const DRIVER_CODES: ReadonlySet<string> = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
]);

/**
 * SQLSTATEs of a server that cannot work now: connections (08), resources (53), shutdown and start (57P), the
 * disk under it (58), and a read-only server after a failover.
 */
const SERVER_STATES = /^(08|53|57P|58|25006)/;

/** Whether Postgres is temporarily unavailable. The same statement may succeed later. */
export function isPostgresOutage(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return SERVER_STATES.test(error.code);
  return DRIVER_CODES.has(errorCode(error)) || isNetworkOutage(error);
}

/** Serialization failure, deadlock, lock not available. */
const RACE_STATES: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);

/** Whether Postgres aborted one of two conflicting transactions. An immediate retry may succeed. */
export const isPostgresRace = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && RACE_STATES.has(error.code);

/** Whether the server refused the statement itself, so that a retry changes nothing. */
export const isServerRefusal = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && !isPostgresOutage(error) && !isPostgresRace(error);

/** Whether the driver itself failed, for example on a value that it cannot serialize. */
export const isOfDriver = (error: unknown): boolean =>
  !(error instanceof postgres.PostgresError) && !isPostgresOutage(error);
