// The driver is CommonJS, and Node finds none of its error classes as named exports.
import kafkajs from 'kafkajs';
import { isNetworkOutage } from '../network-outage.ts';

const { KafkaJSError, KafkaJSTimeout } = kafkajs;

/** Final for the driver because it gives up, not because the request is wrong. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'KafkaJSGroupCoordinatorNotFound',
  'KafkaJSConnectionClosedError',
]);

/**
 * Whether the brokers cannot be asked now. The driver says so of each of its errors, and wraps the last
 * one when it has tried as often as it may.
 */
export function isKafkaOutage(error: unknown): boolean {
  if (error instanceof KafkaJSTimeout) return true;
  if (error instanceof KafkaJSError) {
    if (error.retriable || UNREACHABLE.has(error.name)) return true;
    return isKafkaOutage(error.cause);
  }
  return isNetworkOutage(error);
}
