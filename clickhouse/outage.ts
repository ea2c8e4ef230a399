import { ClickHouseError } from '@clickhouse/client';
import { isNetworkOutage } from '../platform/network-outage.ts';

/** The server reached a time limit: a wide query is too wide; a narrow query met a busy machine. */
export const TIME_CODES: ReadonlySet<string> = new Set(['159', '160']);

/**
 * Error codes of a server that cannot work now: too busy (202, 252, 439, 745), shutting down (236), cancelled
 * (394), its disk (74, 75, 76, 243), its network (3, 198, 203, 209, 210, 279, 319), its keeper or replicas
 * (225, 242, 254, 285, 286, 999), its memory (173), an exception of the operating system (425, 1000, 1001).
 * Not listed: 60, 81 and 107. They also occur while a data directory is restored, but a missing table is a
 * bug, or a migration that did not run.
 */
const SERVER_CODES: ReadonlySet<string> = new Set([
  '3', '74', '75', '76', '173', '198', '202', '203', '209', '210', '225', '236', '242', '243', '252',
  '254', '279', '285', '286', '319', '394', '425', '439', '745', '999', '1000', '1001',
]); // prettier-ignore

/** The client's messages for an aborted request or a lost connection; it has no codes for these. */
const CLIENT_WORDS = /aborted a request|socket hang up|Timeout error|AbortError|TimeoutError/;

/** Whether ClickHouse is unavailable now. The same statement may succeed later. */
export function isClickHouseOutage(error: unknown): boolean {
  if (error instanceof ClickHouseError)
    return SERVER_CODES.has(error.code) || TIME_CODES.has(error.code);
  if (isNetworkOutage(error)) return true;
  return error instanceof Error && CLIENT_WORDS.test(`${error.name} ${error.message}`);
}
