import type { Range, UsageScope } from '../queries/usage-scope.ts';

const DAY_MS = 86_400_000;
const ENVIRONMENTS_MAX = 10_000;

/** Days that are likely open, and the start of the quarter hour from which on none is likely sealed. */
export interface LikelyTime extends Range {
  readonly rows_from: number;
}

/** The quarter hours of the open days of a read. Milliseconds. */
export interface SeenQuarters {
  /** The end of the last sealed one before the first that is not sealed; null: none. */
  readonly sealed_until: number | null;
  /** The first one that is not sealed; null: all are. */
  readonly open_from: number | null;
}

/**
 * The last days of each environment that could not be read from sealed days: nearly always today, and after midnight
 * yesterday too. The next read of a few customers asks for their quarter hours and for their newest rows together with
 * all days, which saves two rounds of statements of a wallet's balance (`bench/balance.ts`). It is only a guess: a
 * read with other open time asks for its quarter hours and rows afterwards.
 */
export class OpenDays {
  readonly #known = new Map<string, { readonly first: number; readonly rows_from: number }>();

  /** The noted day and the day after it, cut to the scope; null if no day is noted or none is in the scope. */
  likely(scope: UsageScope): LikelyTime | null {
    const known = this.#known.get(keyOf(scope));
    if (known === undefined) return null;
    const start = Math.max(known.first, scope.start);
    const end = Math.min(known.first + 2 * DAY_MS, scope.end);
    return start < end ? { start, end, rows_from: Math.max(known.rows_from, start) } : null;
  }

  /**
   * Notes the open days of a read, at least one, in any order. The sealer seals all customers' quarter hours in the
   * order of time, so the latest sealed one of any customer tells how far it has come, until an open one before it
   * contradicts.
   */
  note(scope: UsageScope, days: readonly number[], seen: SeenQuarters): void {
    if (this.#known.size >= ENVIRONMENTS_MAX) this.#known.clear();
    const key = keyOf(scope);
    const last = Math.max(...days);
    const first = days.includes(last - DAY_MS) ? last - DAY_MS : last;
    const sealed = Math.max(seen.sealed_until ?? first, first);
    const before = this.#known.get(key)?.rows_from ?? first;
    const { open_from } = seen;
    const isContradicted = open_from !== null && first <= open_from && open_from < before;
    const rows_from = isContradicted ? sealed : Math.max(before, sealed);
    this.#known.set(key, { first, rows_from });
  }
}

const keyOf = ({ tenant_id, environment_id }: UsageScope): string =>
  `${tenant_id} ${environment_id}`;
