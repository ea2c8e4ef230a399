import { ReplyError } from 'ioredis';
import { isNetworkOutage } from '../network-outage.ts';

/** First words of replies by which a server says that it cannot work now. */
const REPLIES = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS)\b/;

/** The driver has no codes for these. */
const CLIENT_WORDS =
  /Command timed out|Connection is closed|Connection is in subscriber mode|Stream isn't writeable|MaxRetriesPerRequestError|Reached the max retries/;

/** Whether Redis cannot be asked now. */
export function isRedisOutage(error: unknown): boolean {
  if (error instanceof (ReplyError as ErrorConstructor)) return REPLIES.test(error.message);
  if (isNetworkOutage(error)) return true;
  return error instanceof Error && CLIENT_WORDS.test(`${error.name} ${error.message}`);
}
