import { setTimeout as sleep } from 'node:timers/promises';
import { BillingError, type ErrorDetail } from '../domain/errors.ts';
import type { RateLimit, RateLimiter } from '../platform/cache/rate-limiter.ts';
import type { Clock } from '../platform/clock.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { EventBatcher } from './event-batcher.ts';
import { parseEvents } from './parse-events.ts';

export interface EventImportDeps {
  readonly log: EventLog;
  readonly clock: Clock;
  /** Null: no limit. Counted in events, per tenant, apart from what its edge takes. */
  readonly limits: { readonly limiter: RateLimiter; readonly perTenant: RateLimit } | null;
}

/** One event as the JSON of `POST /events`, and the id it gets when it names none. */
export interface ImportedEvent {
  readonly json: string;
  readonly event_id: string;
}

/** What became of one of them: what is wrong with it, or the id under which it is in the log. */
export type ImportOutcome =
  { readonly event_id: string } | { readonly problems: readonly ErrorDetail[] };

/** Puts a run of events of one scope into the log; what is refused does not hold up the rest. */
export type ImportEvents = (
  scope: { readonly tenant_id: string; readonly environment_id: string },
  events: readonly ImportedEvent[],
  signal: AbortSignal,
) => Promise<ImportOutcome[]>;

/**
 * Events of a file on the way that events of the edge take: checked by the same code, appended to the
 * same topic, only slower, so that a file does not crowd out what is sent live (metering 3). Resolves
 * when every good one is durable, in the order given; with ids that stay the same it may be repeated. Throws what the log throws; then some
 * may be there.
 */
export function createEventImport(deps: EventImportDeps): ImportEvents {
  const batcher = new EventBatcher({ log: deps.log });
  return async (scope, events, signal) => {
    const now = deps.clock.now();
    const good: UsageEvent[] = [];
    const outcomes = events.map((event): ImportOutcome => {
      const context = { ...scope, now, newEventId: () => event.event_id };
      try {
        const [parsed] = parseEvents(Buffer.from(event.json), 'event', context).events;
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

/** Waits for the tenant's turn; a signal ends the waiting with its reason. */
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
