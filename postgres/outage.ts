import postgres from 'postgres';
import { errorCode, isNetworkOutage } from '../platform/network-outage.ts';

/** How the driver calls a connection that it could not make, or that ended under a statement. */
const DRIVER_CODES: ReadonlySet<string> = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
]);

/**
 * SQLSTATEs of a server that cannot work now: connections (08), resources (53), shutdown and start
 * (57P), the disk under it (58), and a server that only reads because another has taken over.
 */
const SERVER_STATES = /^(08|53|57P|58|25006)/;

/** Whether Postgres cannot be asked now. The same statement may succeed later. */
export function isPostgresOutage(error: unknown): boolean {
  if (error instanceof postgres.PostgresError) return SERVER_STATES.test(error.code);
  return DRIVER_CODES.has(errorCode(error)) || isNetworkOutage(error);
}

/** Serialization failure, deadlock, lock not available. */
const RACE_STATES: ReadonlySet<string> = new Set(['40001', '40P01', '55P03']);

/** Whether Postgres gave up one of two transactions that met. Repeating it may succeed at once. */
export const isPostgresRace = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && RACE_STATES.has(error.code);

/** Whether the server looked at a statement and refused it, so that repeating it changes nothing. */
export const isServerRefusal = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && !isPostgresOutage(error) && !isPostgresRace(error);
