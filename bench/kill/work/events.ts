import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../random.ts';
import { thousandths, type Ledger, type SentEvent } from '../ledger.ts';
import type { Tree } from '../tree.ts';

export interface LoadOptions {
  readonly tree: Pick<Tree, 'baseUrl' | 'apiKey'>;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly runId: string;
  /** Total of all senders. */
  readonly eventsPerSecond: number;
  readonly senders: number;
  /** Earliest event timestamp; events are spread over 28 days from here. */
  readonly startMs: number;
}

export const CUSTOMERS = 8;
const BATCH = 100;
const DUPLICATE_SHARE = 0.1;
const REMEMBERED = 5_000;
const ANSWER_MS_MAX = 5_000;
const MONTH_MS = 28 * 86_400_000;

/** Sends until `stop`, then resends events without a clear answer until all are acknowledged. */
export function startLoad(options: LoadOptions): { stop(): Promise<void> } {
  let running = true;
  let sequence = 0;
  const recent: SentEvent[] = [];

  const fresh = (): SentEvent => {
    sequence += 1;
    const { random } = options;
    return {
      event_id: `${options.runId}-${sequence}`,
      external_customer_id: `kill-${options.runId}-${sequence % CUSTOMERS}`,
      timestamp: options.startMs + ((sequence * 7_919) % MONTH_MS),
      value: random.integer(-50_000, 1_000_000),
      user: `u${random.integer(0, 400)}`,
    };
  };
  /**
   * The same id with another time and value: must not count. Only acknowledged events are sent again
   * this way. For an unacknowledged event the oracle could not tell which copy counts.
   */
  const duplicate = (event: SentEvent): SentEvent => ({
    ...event,
    timestamp: event.timestamp + options.random.integer(-86_400_000, 86_400_000),
    value: event.value + 1,
  });

  const remember = (events: readonly SentEvent[]): void => {
    for (const event of events.slice(0, 10)) {
      const canonical = options.ledger.acknowledged.get(event.event_id);
      if (canonical === undefined) continue;
      if (recent.length < REMEMBERED) recent.push(canonical);
      else recent[options.random.integer(0, REMEMBERED - 1)] = canonical;
    }
  };

  const sender = async (): Promise<void> => {
    const pauseMs = (BATCH * options.senders * 1000) / options.eventsPerSecond;
    while (running) {
      const startedAt = performance.now();
      const batch = new Map<string, SentEvent>();
      while (batch.size < BATCH) {
        const again = recent.length > REMEMBERED / 10 && options.random.chance(DUPLICATE_SHARE);
        const event = again ? duplicate(options.random.pick(recent)) : fresh();
        if (again) options.ledger.duplicates += 1;
        batch.set(event.event_id, event);
      }
      const events = [...batch.values()];
      await sendUntilAnswered(options, events, () => running);
      remember(events);
      await sleep(Math.max(0, pauseMs - (performance.now() - startedAt)));
    }
  };
  const senders = Array.from({ length: options.senders }, sender);
  return {
    async stop() {
      running = false;
      await Promise.all(senders);
      const left = [...options.ledger.unknown.values()];
      for (let at = 0; at < left.length; at += BATCH)
        await sendUntilAnswered(options, left.slice(at, at + BATCH), () => true);
    },
  };
}

/** Repeats one bulk call, like a careful producer, until the answer is 202. */
async function sendUntilAnswered(
  { tree, ledger }: LoadOptions,
  batch: readonly SentEvent[],
  keepTrying: () => boolean,
): Promise<void> {
  ledger.sent(batch);
  const body = JSON.stringify({
    events: batch.map((event) => ({
      event_id: event.event_id,
      event_name: 'kill.sample',
      external_customer_id: event.external_customer_id,
      timestamp: new Date(event.timestamp).toISOString(),
      properties: { value: thousandths(event.value), user: event.user },
    })),
  });
  do {
    try {
      const response = await fetch(`${tree.baseUrl}/v1/events/bulk`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': tree.apiKey },
        body,
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      });
      await response.arrayBuffer();
      if (response.status === 202) return ledger.acked(batch);
      // 408: the server's time limit for the body passed, because one of the two processes was stopped.
      if (response.status < 429 && response.status !== 408)
        throw new Error(`refused with ${response.status}`);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('refused')) throw error;
    }
    await sleep(100);
  } while (keepTrying());
}
