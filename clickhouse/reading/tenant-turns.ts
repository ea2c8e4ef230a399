import { BillingError } from '../../domain/errors.ts';

const TURNS_PER_TENANT = 2;
const WAITING_MAX = 20;

/**
 * Limits the concurrent queries of a tenant, so that one tenant's dashboards never take every session;
 * further queries wait.
 */
export class TenantTurns {
  readonly #perTenant: number;
  readonly #running = new Map<string, number>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(perTenant = TURNS_PER_TENANT) {
    this.#perTenant = perTenant;
  }

  /**
   * `signal` is aborted when nobody waits for the result any more: a query that has no turn yet then rejects with its
   * reason.
   */
  async run<T>(tenantId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(tenantId, signal);
    try {
      return await work();
    } finally {
      this.#leave(tenantId);
    }
  }

  #enter(tenantId: string, signal?: AbortSignal): Promise<void> | void {
    signal?.throwIfAborted();
    const running = this.#running.get(tenantId) ?? 0;
    if (running < this.#perTenant) return void this.#running.set(tenantId, running + 1);
    const waiting = this.#waiting.get(tenantId) ?? new Set();
    if (waiting.size >= WAITING_MAX)
      throw new BillingError(
        'rate_limited',
        'too_many_usage_queries',
        'Too many usage queries of this tenant are waiting. Retry shortly.',
      );
    this.#waiting.set(tenantId, waiting);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(enter);
        reject(signal!.reason as Error);
      };
      const enter = (): void => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      waiting.add(enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  #leave(tenantId: string): void {
    const waiting = this.#waiting.get(tenantId);
    const [next] = waiting ?? [];
    if (next !== undefined) {
      waiting!.delete(next);
      return next(); // the next query takes over the turn
    }
    const running = this.#running.get(tenantId)! - 1;
    if (running > 0) return void this.#running.set(tenantId, running);
    this.#running.delete(tenantId);
    this.#waiting.delete(tenantId);
  }
}
