import { ReplyError } from 'ioredis';
import { isNetworkOutage } from '../network-outage.ts';

/** First words of the replies of a server that cannot work now. */
const REPLIES = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|BUSY|OOM|MISCONF|NOREPLICAS)\b/;

/** The driver has no codes for these errors. */
const CLIENT_WORDS =
  /Command timed out|Connection is closed|Connection is in subscriber mode|Stream isn't writeable|MaxRetriesPerRequestError|Reached the max retries/;

/** Whether Redis is unavailable now. */
export function isRedisOutage(error: unknown): boolean {
  if (error instanceof (ReplyError as ErrorConstructor)) return REPLIES.test(error.message);
  if (isNetworkOutage(error)) return true;
  return error instanceof Error && CLIENT_WORDS.test(`${error.name} ${error.message}`);
}
