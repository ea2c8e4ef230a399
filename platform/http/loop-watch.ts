import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import type { Logger } from '../log.ts';

const HELD_MS_MAX = 200;
const TICK_MS = 50;
const NAMED_ROUTES_MAX = 5;
/** Values of a body are counted up to this number. */
const COUNTED_VALUES_MAX = 100_000;

export interface LoopWatchOptions {
  readonly registry: Registry;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

interface Watched {
  readonly request: FastifyRequest;
  /** When the request last began a step: headers read, body read, answer ready. */
  markedAt: number;
  /** The longest time between two marks that overlaps the current tick. */
  longest: number;
}

/**
 * Counts by route the requests that hold the event loop for more than 200 ms, while every other request of
 * the process waits. Logs the shape of each, never a value that was sent.
 *
 * A late timer shows that the loop was held. The cause is the request that was between two of its own steps
 * (headers, body, handler, answer) for most of that time. A handler that computes after waiting for a
 * database has no step there. If it is the only open request, it is the cause; if several are open, they
 * count as `several`, and the log names their routes. Work outside of requests counts as `none` and is logged
 * as information only: it is the start of the process, or a timer of its own.
 */
export class LoopWatch {
  readonly #open = new Set<Watched>();
  readonly #ended = new Set<Watched>();
  readonly #ofRequest = new WeakMap<FastifyRequest, Watched>();
  readonly #blocks: Counter<'method' | 'route'>;
  readonly #log: LoopWatchOptions['log'];
  readonly #now: () => number;
  #tickedAt: number;

  constructor({ registry, log, now = () => performance.now() }: LoopWatchOptions) {
    this.#log = log;
    this.#now = now;
    this.#tickedAt = now();
    this.#blocks = new Counter({
      name: 'event_loop_blocks_total',
      help: 'Times that a request held the event loop for more than 200 ms, by route.',
      labelNames: ['method', 'route'],
      registers: [registry],
    });
  }

  /** Follows the requests of a server until it closes. */
  watch(app: FastifyInstance): void {
    app.addHook('onRequest', (request, _reply, done) => {
      const watched: Watched = { request, markedAt: this.#now(), longest: 0 };
      this.#ofRequest.set(request, watched);
      this.#open.add(watched);
      done();
    });
    const mark = (request: FastifyRequest): void => this.#mark(this.#ofRequest.get(request));
    app.addHook('preParsing', (request, _reply, _payload, done) => (mark(request), done()));
    app.addHook('preValidation', (request, _reply, done) => (mark(request), done()));
    app.addHook('onSend', (request, _reply, _payload, done) => (mark(request), done()));
    app.addHook('onResponse', (request, _reply, done) => (this.#end(request), done()));
    app.addHook('onRequestAbort', (request, done) => (this.#end(request), done()));
    const timer = setInterval(() => this.tick(), TICK_MS).unref();
    app.addHook('onClose', async () => clearInterval(timer));
  }

  /** Called by the timer; the watch measures how late the call is. */
  tick(): void {
    const now = this.#now();
    const heldMs = now - this.#tickedAt - TICK_MS;
    if (heldMs > HELD_MS_MAX) this.#report(heldMs, now);
    this.#tickedAt = now;
    this.#ended.clear();
    for (const watched of this.#open) watched.longest = 0;
  }

  #mark(watched: Watched | undefined): void {
    if (watched === undefined) return;
    const now = this.#now();
    const since = Math.max(watched.markedAt, this.#tickedAt);
    watched.longest = Math.max(watched.longest, now - since);
    watched.markedAt = now;
  }

  #end(request: FastifyRequest): void {
    const watched = this.#ofRequest.get(request);
    if (watched === undefined || !this.#open.delete(watched)) return;
    this.#mark(watched);
    this.#ended.add(watched);
  }

  #report(heldMs: number, now: number): void {
    // Requests that arrived when the loop was free again did not hold it.
    const present = [...this.#open, ...this.#ended].filter(
      ({ markedAt, longest }) => longest > 0 || markedAt < now - HELD_MS_MAX,
    );
    const between = present.filter(({ longest }) => longest > heldMs / 2);
    const candidates = between.length > 0 ? between : present;
    const held_ms = Math.round(heldMs);
    if (candidates.length === 1) {
      const { request } = candidates[0]!;
      this.#blocks.inc({ method: request.method, route: routeOf(request) });
      this.#log.warn({ held_ms, ...shapeOf(request) }, 'event loop held by a request');
      return;
    }
    const route = candidates.length === 0 ? 'none' : 'several';
    this.#blocks.inc({ method: '', route });
    if (candidates.length === 0)
      return this.#log.info({ held_ms, route }, 'event loop held outside of requests');
    const routes = candidates
      .slice(0, NAMED_ROUTES_MAX)
      .map(({ request }) => `${request.method} ${routeOf(request)}`);
    this.#log.warn({ held_ms, route, routes }, 'event loop held');
  }
}

const routeOf = (request: FastifyRequest): string => request.routeOptions.url ?? 'unknown';

/** Sizes and counts only: values that were sent must not appear in a log. */
function shapeOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const { method, headers, url } = request;
  return {
    request_id: request.id,
    method,
    route: routeOf(request),
    url_length: url.length,
    content_length: Number(headers['content-length'] ?? 0),
    content_encoding: headers['content-encoding'] === undefined ? 'none' : 'encoded',
    values: countOfValues(request.body),
  };
}

/** Number of keys and items at all depths. */
function countOfValues(root: unknown): number {
  const pending: unknown[] = [root];
  let count = 0;
  for (let value = pending.pop(); value !== undefined; value = pending.pop()) {
    if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) continue;
    for (const item of Object.values(value)) {
      count += 1;
      if (count >= COUNTED_VALUES_MAX) return count;
      if (typeof item === 'object' && item !== null) pending.push(item);
    }
  }
  return count;
}
