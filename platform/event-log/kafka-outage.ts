// The driver is CommonJS, and Node does not find its error classes as named exports.
import kafkajs from 'kafkajs';
import { isNetworkOutage } from '../network-outage.ts';

const { KafkaJSError, KafkaJSTimeout } = kafkajs;

/** The driver gives up on these; the request itself is not wrong. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSConnectionClosedError',
]);

/**
 * Whether the brokers are unavailable now. The driver marks its errors as retriable, and wraps the last one
 * when its retries are used up.
 */
export function isKafkaOutage(error: unknown): boolean {
  if (error instanceof KafkaJSTimeout) return true;
  if (error instanceof KafkaJSError) {
    if (error.retriable || UNREACHABLE.has(error.name)) return true;
    return isKafkaOutage(error.cause);
  }
  return isNetworkOutage(error);
}
