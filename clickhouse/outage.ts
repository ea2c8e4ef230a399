import { ClickHouseError } from '@clickhouse/client';
import { isNetworkOutage } from '../platform/network-outage.ts';

/** The server ran into a limit of time: a wide question is too wide, a narrow one met a busy machine. */
export const TIME_CODES: ReadonlySet<string> = new Set(['159', '160']);

/**
 * Error codes of a server that cannot work now: too busy (202, 252, 439, 745), shutting down (236),
 * cancelled (394), its disk (74, 75, 76, 243), its network (3, 198, 203, 209, 210, 279, 319), its keeper
 * or replicas (225, 242, 254, 285, 286, 999), its memory (173), an exception of the system below it
 * (425, 1000, 1001), a data directory that is being put back (60, 81 and 107 are not here: a missing
 * table is a bug, or a migration that did not run).
 */
const SERVER_CODES: ReadonlySet<string> = new Set([
  '3', '74', '75', '76', '173', '198', '202', '203', '209', '210', '225', '236', '242', '243', '252',
  '254', '279', '285', '286', '319', '394', '425', '439', '745', '999', '1000', '1001',
]); // prettier-ignore

/** How the client says that a request was given up or a connection lost; it has no codes for these. */
const CLIENT_WORDS = /aborted a request|socket hang up|Timeout error|AbortError|TimeoutError/;

/** Whether ClickHouse cannot be asked now. The same statement may succeed later. */
export function isClickHouseOutage(error: unknown): boolean {
  if (error instanceof ClickHouseError)
    return SERVER_CODES.has(error.code) || TIME_CODES.has(error.code);
  if (isNetworkOutage(error)) return true;
  return error instanceof Error && CLIENT_WORDS.test(`${error.name} ${error.message}`);
}
