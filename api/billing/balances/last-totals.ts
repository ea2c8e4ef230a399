import { setTimeout as wait } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import { decimal, decimalText, type Decimal } from '../../../domain/money.ts';
import type { Cache } from '../../../platform/cache/cache.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { isOutage } from '../../outage.ts';

/** Priced usage by customer and currency of the subscription, in that currency, not rounded. */
export type Totals = ReadonlyMap<string, Decimal>;

export interface LastTotalsOptions {
  readonly cache: Pick<Cache, 'get' | 'set'>;
  readonly nowMs: number;
  /** The last totals are used without a new read while they are not older. */
  readonly maxAgeMs: number;
  /** How long a read may take while there are last totals. Default 8 s (money 2.8.9). */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 8_000;
const KEPT_MS = 24 * 3_600_000;

/**
 * The totals as read now, or those of the last read of the same subscriptions in the same periods: if they are young
 * enough, or if usage cannot be read now (money 2.8.9). Throws the error of the read if there are none. A settled
 * balance is never cached: only this usage is, so a top-up or a payment counts at once.
 */
export async function lastTotals(
  { cache, nowMs, maxAgeMs, patienceMs = PATIENCE_MS }: LastTotalsOptions,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
  read: () => Promise<Totals>,
): Promise<{ readonly totals: Totals; readonly isFallback: boolean }> {
  const key = keyOf(scope, subscriptions);
  const known = parsed(await cache.get(key));
  if (known !== null && nowMs - known.at <= maxAgeMs)
    return { totals: known.totals, isFallback: false };
  try {
    const totals = await (known === null ? read() : within(patienceMs, read()));
    const entries = [...totals].map(([name, total]) => [name, decimalText(total)]);
    await cache.set(key, JSON.stringify({ at: nowMs, totals: entries }), KEPT_MS);
    return { totals, isFallback: false };
  } catch (error) {
    if (known === null || !(error instanceof TooSlow || isOutage(error))) throw error;
    return { totals: known.totals, isFallback: true };
  }
}

class TooSlow extends Error {}

async function within<Value>(ms: number, work: Promise<Value>): Promise<Value> {
  const done = new AbortController();
  try {
    const late = wait(ms, null, { signal: done.signal, ref: false }).then(() => {
      throw new TooSlow();
    });
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}

/** A changed subscription or a new period has no last totals. */
function keyOf(scope: Scope, subscriptions: readonly SubscriptionRow[]): string {
  const periods = subscriptions
    .map(({ id, current_period_start, updated_at }) => [id, current_period_start, updated_at])
    .sort(([one], [other]) => (one! < other! ? -1 : 1));
  const parts = [scope.tenant_id, scope.environment_id, periods];
  return `usage-totals:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

function parsed(text: string | null): { readonly at: number; readonly totals: Totals } | null {
  if (text === null) return null;
  const { at, totals } = JSON.parse(text) as { at: number; totals: [string, string][] };
  return { at, totals: new Map(totals.map(([name, total]) => [name, decimal(total)])) };
}
