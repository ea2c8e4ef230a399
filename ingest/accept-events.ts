import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { BillingError } from '../domain/errors.ts';
import type { RateLimit, RateLimiter } from '../platform/cache/rate-limiter.ts';
import type { Clock } from '../platform/clock.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Authenticate } from '../platform/identity/api-key-auth.ts';
import type { Identity } from '../platform/identity/identity.ts';
import { credentialOf, environmentOf } from '../platform/identity/credential.ts';
import { failpoint } from '../platform/failpoint.ts';
import { ignoredFields } from '../platform/http/ignored-fields.ts';
import { countRefusedCredential, refuseBeyond } from '../platform/http/rate-limit.ts';
import { assertAllowed } from '../platform/http/admit.ts';
import { keepIdentity } from '../platform/http/request-identity.ts';
import type { RequestLog } from '../platform/http/request-log.ts';
import type { Sessions } from '../platform/identity/sessions.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { EventFilters } from '../postgres/tables/event-filters.ts';
import type { CustomerTimes, TimeOfCustomer } from '../postgres/tables/test-clocks.ts';
import type { UsageEvent } from '../schemas/events/usage-event.ts';
import { EventBatcher } from './event-batcher.ts';
import { formatOf } from './event-format.ts';
import { HeldBytes } from './held-bytes.ts';
import { createIngestMetrics, type IngestMetrics } from './ingest-metrics.ts';
import { parseEvents, type EventFormat } from './parse-events.ts';
import { asKeySends } from './publishable-key.ts';
import { readBody } from './read-body.ts';

export interface IngestDeps {
  readonly log: EventLog;
  readonly authenticate: Authenticate;
  /** Without it only keys are accepted. */
  readonly sessions?: Pick<Sessions, 'authenticate'>;
  /** Null: no limit. In events, per tenant. */
  readonly limits: { readonly limiter: RateLimiter; readonly perTenant: RateLimit } | null;
  /** Limit of refused credentials per address; null or unset: no limit. */
  readonly failures?: { readonly limiter: RateLimiter; readonly limit: RateLimit } | null;
  readonly clock: Clock;
  /** Times of customers with test clocks (`createCustomerTimes`); unset: all live in real time. */
  readonly customerTimes?: CustomerTimes;
  /** The customers whose events are wanted (`createEventFilters`); unset: all customers. */
  readonly filters?: EventFilters;
  readonly ids: Ids;
  readonly metrics: Registry;
  readonly logger: Logger;
  /** Stores refused requests for their callers; accepted ones are found by their events. */
  readonly requestLog?: Pick<RequestLog, 'note'>;
  /** Bytes of requests in progress at a time; default 128 MiB. */
  readonly maxHeldBytes?: number;
}

const HELD_BYTES_MAX = 128 * 1024 * 1024;
const WRITE_EVENTS = { permission: 'event:write' };

/**
 * The shared work of both routes. Checks run in a fixed order: authentication (401), permission (403), rate
 * (429), body (400, 413). Only then are events appended to the log.
 */
export class EventIntake {
  readonly metrics: IngestMetrics;
  readonly #deps: IngestDeps;
  readonly #batcher: EventBatcher;
  readonly #held: HeldBytes;

  constructor(deps: IngestDeps) {
    this.#deps = deps;
    this.metrics = createIngestMetrics(deps.metrics);
    this.#held = new HeldBytes(deps.maxHeldBytes ?? HELD_BYTES_MAX);
    this.#batcher = new EventBatcher({
      log: deps.log,
      onRecord: (events) => this.metrics.record(events),
      onAppend: (seconds) => this.metrics.append(seconds),
    });
  }

  async accept(
    request: FastifyRequest,
    reply: FastifyReply,
    format: 'event' | 'events',
  ): Promise<FastifyReply> {
    const identity = await this.#admit(request).catch(async (error: unknown) => {
      const isRefused = error instanceof BillingError && error.kind === 'unauthenticated';
      if (isRefused) await countRefusedCredential(this.#deps.failures ?? null, request, reply);
      throw error;
    });
    const { limits } = this.#deps;
    if (limits !== null) {
      const refusal = limits.limiter.refusal(identity.tenant_id, limits.perTenant);
      refuseBeyond(refusal, limits.perTenant, 'events', reply);
    }

    const held = this.#held.forRequest();
    try {
      const sent = formatOf(request.headers['content-type'], format);
      const body = await readBody(request.raw, request.headers['content-encoding'], held.hold);
      const timeOf = await this.#times(identity);
      const events = this.#parse(body, sent, { identity, timeOf }, request, reply);
      if (limits !== null) {
        const { limiter, perTenant } = limits;
        const answer = await limiter.take(identity.tenant_id, events.length, perTenant);
        refuseBeyond(answer, perTenant, 'events', reply);
      }
      const wanted = await this.#wanted(identity, events, reply);
      failpoint('ingest.before_append');
      if (wanted.length > 0) await this.#batcher.append(wanted);
      failpoint('ingest.after_append');
      this.metrics.accepted(wanted.length);
      return reply
        .code(202)
        .header('content-type', 'application/json; charset=utf-8')
        .send(sent === 'event' || sent === 'cloudevent' ? acceptedOne(events[0]!) : ACCEPTED);
    } finally {
      held.release();
    }
  }

  /** A session token takes the same look-ups as on other routes; an API key is not affected. */
  async #admit(request: FastifyRequest): Promise<Identity> {
    const { authenticate, sessions } = this.#deps;
    const credential = credentialOf(request.headers);
    if (credential === null)
      throw unauthenticated('Send an API key in x-api-key, or a token in Authorization: Bearer.');
    const { kind, value } = credential;
    const identity =
      kind === 'key'
        ? await authenticate(value)
        : await sessions?.authenticate(value, environmentOf(request.headers), true);
    if (identity == null)
      throw unauthenticated('The API key or token is unknown, was withdrawn, or has expired.');
    keepIdentity(request, identity);
    assertAllowed(WRITE_EVENTS, identity);
    return identity;
  }

  /**
   * Leaves out events of customers whom the environment does not want (metering 2). The answer is that of any
   * other call, so a sender of mixed events goes on; the header says how many were left out.
   */
  async #wanted(
    identity: Identity,
    events: UsageEvent[],
    reply: FastifyReply,
  ): Promise<UsageEvent[]> {
    const customers = (await this.#deps.filters?.(identity)) ?? null;
    if (customers === null) return events;
    const wanted = events.filter((event) => customers.has(event.external_customer_id));
    const left_out = events.length - wanted.length;
    if (left_out > 0) void reply.header('x-filtered-events', String(left_out));
    return wanted;
  }

  /** Production has no test clocks. */
  async #times(identity: Identity): Promise<TimeOfCustomer | null> {
    if (identity.environment_type === 'production') return null;
    return (await this.#deps.customerTimes?.(identity)) ?? null;
  }

  #parse(
    body: Buffer,
    format: EventFormat,
    { identity, timeOf }: { readonly identity: Identity; readonly timeOf: TimeOfCustomer | null },
    request: FastifyRequest,
    reply: FastifyReply,
  ): UsageEvent[] {
    const { clock, ids } = this.#deps;
    const { events, ignored } = parseEvents(body, format, {
      tenant_id: identity.tenant_id,
      environment_id: identity.environment_id,
      now: clock.now(),
      timeOf,
      newEventId: () => ids.next('event'),
    });
    if (ignored.length > 0)
      void reply.header('x-ignored-fields', ignoredFields(ignored, request.headers));
    return asKeySends(identity, events, format);
  }
}

const unauthenticated = (message: string): BillingError =>
  new BillingError('unauthenticated', 'unauthenticated', message);

const ACCEPTED = JSON.stringify({ message: 'Events accepted for processing' });

const acceptedOne = (event: UsageEvent): string =>
  `{"message":"Event accepted for processing","event_id":${JSON.stringify(event.event_id)}}`;
