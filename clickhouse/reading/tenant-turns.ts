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
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(perTenant = TURNS_PER_TENANT) {
    this.#perTenant = perTenant;
  }

  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    await this.#enter(tenantId);
    try {
      return await work();
    } finally {
      this.#leave(tenantId);
    }
  }

  #enter(tenantId: string): Promise<void> | void {
    const running = this.#running.get(tenantId) ?? 0;
    if (running < this.#perTenant) return void this.#running.set(tenantId, running + 1);
    const waiting = this.#waiting.get(tenantId) ?? [];
    if (waiting.length >= WAITING_MAX)
      throw new BillingError(
        'rate_limited',
        'too_many_usage_queries',
        'Too many usage queries of this tenant are waiting. Retry shortly.',
      );
    return new Promise((resolve) => this.#waiting.set(tenantId, [...waiting, resolve]));
  }

  #leave(tenantId: string): void {
    const next = this.#waiting.get(tenantId)?.shift();
    if (next !== undefined) return next(); // the next query takes over the turn
    const running = this.#running.get(tenantId)! - 1;
    if (running > 0) return void this.#running.set(tenantId, running);
    this.#running.delete(tenantId);
    this.#waiting.delete(tenantId);
  }
}
