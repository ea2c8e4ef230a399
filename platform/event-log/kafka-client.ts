import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel, type ISocketFactory, type LogEntry } from 'kafkajs';
import type { Logger } from '../log.ts';
import { isKafkaOutage } from './kafka-outage.ts';

export interface KafkaAddress {
  readonly brokers: readonly string[];
  /** Redirects connections to other addresses than the brokers announce, for tunnels. */
  readonly route?: (host: string, port: number) => { host: string; port: number };
}

/**
 * A client with requests of at most `requestTimeoutMs`. `retries` covers finding brokers and leaders; the
 * sender of a request decides what its failure means.
 */
export function kafkaClient(
  address: KafkaAddress,
  logger: Logger,
  requestTimeoutMs: number,
  retries: number,
): Kafka {
  const { route } = address;
  return new Kafka({
    clientId: 'meterline',
    brokers: [...address.brokers],
    connectionTimeout: Math.min(requestTimeoutMs, Math.max(1_000, requestTimeoutMs / 4)),
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    retry: { retries, initialRetryTime: 100, maxRetryTime: 2_000 },
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => write(logger, entry),
    ...(route === undefined ? {} : { socketFactory: routedSockets(route) }),
  });
}

/**
 * The client logs as errors what it then retries and survives (the first requests to a fresh broker, every
 * leader election), so its errors are our warnings; our own errors are logged where they are answered.
 */
function write(logger: Logger, { level, namespace, log }: LogEntry): void {
  const { message, timestamp: _, logger: __, ...facts } = log;
  const text = `kafka ${namespace}: ${message}`;
  if (level === logLevel.ERROR || level === logLevel.WARN) logger.warn(facts, text);
  else logger.debug(facts, text);
}

const routedSockets =
  (route: NonNullable<KafkaAddress['route']>): ISocketFactory =>
  ({ host, port, onConnect }) => {
    const socket = connect(route(host, port), onConnect);
    socket.setKeepAlive(true, 60_000);
    socket.setNoDelay(true);
    return socket;
  };

const READ_ATTEMPTS = 25;
const READ_RETRY_MS = 200;

/** For read-only requests: brokers that start, stop or hand over leadership refuse for a moment. */
export async function readAgain<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      if (!isKafkaOutage(error) || attempt === READ_ATTEMPTS) throw error;
      await sleep(READ_RETRY_MS);
    }
  }
}
