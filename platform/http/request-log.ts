import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from '../../postgres/client.ts';
import {
  insertRequestLogs,
  type RequestIdempotency,
  type RequestLogRow,
} from '../../postgres/tables/request-logs.ts';
import { isoTime, type Clock } from '../clock.ts';
import type { Ids } from '../ids.ts';
import type { Logger } from '../log.ts';
import { errorCodeOf } from './error-code.ts';
import { findIdentity } from './request-identity.ts';

export interface RequestLogDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Told how many requests were not stored. */
  readonly onDropped?: (count: number) => void;
}

const FLUSH_MS = 1_000;
/** Requests that wait to be stored; further ones are dropped. */
const WAITING_MAX = 5_000;
/** Requests of one tenant between two writes: a busy tenant must not fill the table or crowd out others. */
const TENANT_WAITING_MAX = 100;
const PATH_LENGTH_MAX = 500;
const USER_AGENT_LENGTH_MAX = 200;

/**
 * Stores answered requests for their callers to find. Requests wait in memory and are written together, at
 * most once a second. No request waits for this or fails because of it: what does not fit, or cannot be
 * written, is dropped and counted.
 */
export class RequestLog {
  readonly #deps: RequestLogDeps;
  #waiting: RequestLogRow[] = [];
  #byTenant = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: RequestLogDeps) {
    this.#deps = deps;
  }

  /**
   * Notes a request after its answer. `route` is the declared path. Requests without a caller belong to no
   * tenant and are left out.
   */
  note(route: string, request: FastifyRequest, reply: FastifyReply): void {
    const identity = findIdentity(request);
    if (identity === null || identity.kind === 'nobody') return;
    const waiting = this.#byTenant.get(identity.tenant_id) ?? 0;
    if (waiting >= TENANT_WAITING_MAX || this.#waiting.length >= WAITING_MAX)
      return this.#deps.onDropped?.(1);
    this.#byTenant.set(identity.tenant_id, waiting + 1);
    const { clock, ids } = this.#deps;
    const error_code = errorCodeOf(request);
    this.#waiting.push({
      id: ids.next('reqlog'),
      tenant_id: identity.tenant_id,
      environment_id: identity.environment_id,
      request_id: request.id,
      method: request.method,
      route,
      path: pathOf(route, request),
      status_code: reply.statusCode,
      error_code,
      duration_ms: Math.round(reply.elapsedTime),
      idempotency: idempotencyOf(request, reply, error_code),
      actor_kind: identity.kind === 'customer' ? 'customer' : identity.user_type,
      user_id: identity.user_id === '' ? null : identity.user_id,
      key_id: identity.key_id,
      ip: request.ip,
      user_agent: request.headers['user-agent']?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      created_at: isoTime(clock.now()),
    });
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what waits. Never rejects. */
  flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  close(): Promise<void> {
    return this.flush();
  }

  async #write(): Promise<void> {
    const rows = this.#waiting;
    if (rows.length === 0) return;
    this.#waiting = [];
    this.#byTenant = new Map();
    try {
      await insertRequestLogs(this.#deps.pool, rows);
    } catch (error) {
      this.#deps.onDropped?.(rows.length);
      this.#deps.log.warn({ err: error, requests: rows.length }, 'requests were not logged');
    }
  }
}

/** The path without its query. Names that callers choose may be personal and are left out. */
function pathOf(route: string, { url }: FastifyRequest): string {
  if (/\{(external_id|lookup_key)\}/.test(route)) return route;
  return url.split('?', 1)[0]!.slice(0, PATH_LENGTH_MAX);
}

function idempotencyOf(
  request: FastifyRequest,
  reply: FastifyReply,
  errorCode: string | null,
): RequestIdempotency | null {
  if (request.headers['idempotency-key'] === undefined) return null;
  if (reply.hasHeader('idempotent-replayed')) return 'replayed';
  return errorCode?.startsWith('idempotency_key_') === true ? 'refused' : 'first';
}
