import { setTimeout as sleep } from 'node:timers/promises';
import { BillingError, type ErrorDetail } from '../domain/errors.ts';
import type { RateLimit, RateLimiter } from '../platform/cache/rate-limiter.ts';
import type { Clock } from '../platform/clock.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { EventFilters } from '../postgres/tables/event-filters.ts';
import type { CustomerTimes } from '../postgres/tables/test-clocks.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { EventBatcher } from './event-batcher.ts';
import { parseEvents } from './parse-events.ts';

export interface EventImportDeps {
  readonly log: EventLog;
  readonly clock: Clock;
  /** Times of customers with test clocks; unset: all live in real time. */
  readonly customerTimes?: CustomerTimes;
  /** The customers whose events are wanted; unset: all customers. */
  readonly filters?: EventFilters;
  /** Null: no limit. In events, per tenant, separate from the tenant's limit at the edge. */
  readonly limits: { readonly limiter: RateLimiter; readonly perTenant: RateLimit } | null;
}

/** One event as the JSON of `POST /events`, and the id that it gets if it has none. */
export interface ImportedEvent {
  readonly json: string;
  readonly event_id: string;
}

/** Outcome of one event: its problems, or its id in the log. */
export type ImportOutcome =
  { readonly event_id: string } | { readonly problems: readonly ErrorDetail[] };

/** Appends a run of events of one scope to the log; refused events do not delay the rest. */
export type ImportEvents = (
  scope: { readonly tenant_id: string; readonly environment_id: string },
  events: readonly ImportedEvent[],
  signal: AbortSignal,
) => Promise<ImportOutcome[]>;

/**
 * Imports events of a file the same way as events of the edge: checked by the same code and appended to the
 * same topic, but at a limited rate, so that a file does not slow down live events (metering 3). Resolves
 * when every valid event is durable, in the order given. May be repeated if the ids stay the same. Throws the
 * errors of the log; some events may then be stored.
 */
export function createEventImport(deps: EventImportDeps): ImportEvents {
  const batcher = new EventBatcher({ log: deps.log });
  return async (scope, events, signal) => {
    const now = deps.clock.now();
    const timeOf = (await deps.customerTimes?.(scope)) ?? null;
    const wanted = (await deps.filters?.(scope)) ?? null;
    const good: UsageEvent[] = [];
    const outcomes = events.map((event): ImportOutcome => {
      const context = { ...scope, now, timeOf, newEventId: () => event.event_id };
      try {
        const [parsed] = parseEvents(Buffer.from(event.json), 'event', context).events;
        if (wanted?.has(parsed!.external_customer_id) === false)
          return { problems: [notWanted(parsed!)] };
        good.push(parsed!);
        return { event_id: parsed!.event_id };
      } catch (error) {
        if (error instanceof BillingError && error.kind === 'invalid')
          return { problems: error.details };
        throw error;
      }
    });
    if (good.length === 0) return outcomes;
    await untilAllowed(deps.limits, scope.tenant_id, good.length, signal);
    await batcher.append(good);
    return outcomes;
  };
}

const notWanted = ({ external_customer_id }: UsageEvent): ErrorDetail => ({
  path: 'external_customer_id',
  code: 'filtered',
  message: `"${external_customer_id}" is not in event_ingestion_filter`,
});

/** Waits until the tenant's limit allows the events; a signal ends the wait with its reason. */
async function untilAllowed(
  limits: EventImportDeps['limits'],
  tenantId: string,
  events: number,
  signal: AbortSignal,
): Promise<void> {
  if (limits === null) return;
  for (;;) {
    signal.throwIfAborted();
    const answer = await limits.limiter.take(`import:${tenantId}`, events, limits.perTenant);
    if (answer.allowed) return;
    await sleep(Math.min(1_000, Math.max(1, answer.retryAfterMs)), undefined, { signal });
  }
}
