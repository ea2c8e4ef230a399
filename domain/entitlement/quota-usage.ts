import { Decimal, sum, ZERO } from '../money.ts';
import { billingGrid, type BillingRhythm } from '../time/billing-grid.ts';
import { epochMs, isoText, type Instant, type Period } from '../time/instant.ts';
import type { QuotaShare, QuotaWindow } from '../pricing/quota-share.ts';
import { quotaOf, type EntitlementSource } from './effective-limits.ts';
import {
  isOfOneLength,
  openQuotaWindow,
  quotaOverage,
  quotaSlots,
  quotaStatus,
  type QuotaConfig,
  type QuotaSlot,
} from './quota-windows.ts';

/** A quota with the time in which it is in force, half-open; null is open. */
export interface QuotaGrant {
  readonly config: QuotaConfig;
  readonly start_date: Instant | null;
  readonly end_date: Instant | null;
}

export const quotaGrant = (source: EntitlementSource): QuotaGrant => ({
  config: quotaOf(source),
  start_date: source.start_date,
  end_date: source.end_date,
});

/** The usage of one instant. */
export interface QuotaMoment {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Units; negative for a correction. */
  readonly quantity: Decimal;
}

/** A window with the key of the slot that opened it. */
interface SlotWindow extends QuotaWindow {
  readonly slot: string;
}

export interface QuotaUsage {
  /** In the order in which they were opened. */
  readonly windows: readonly SlotWindow[];
  /** The billed part of each moment, in their order: usage beyond the quotas, and usage outside of windows. */
  readonly billed: readonly Decimal[];
  /** Whether a window covers the moment. */
  readonly covered: readonly boolean[];
}

/**
 * Follows the usage of one meter through the windows that it opens (money 7.4 to 7.10). `moments` are
 * in the order of time, from the start of a cycle of the subscription.
 *
 * A window keeps its quota until it ends, as long as a quota is in force: a change of plan or of the quota is
 * seen by the next window, and the usage so far still counts. Parallel quotas have windows of their own, and
 * a unit that is beyond several of them is billed once. A correction takes back what it can.
 */
export function quotaUsage(
  grants: readonly QuotaGrant[],
  schedule: QuotaRhythm,
  moments: readonly QuotaMoment[],
): QuotaUsage {
  const slotsAt = slotsInForce(grants);
  const cycleAt = cycleFinder(schedule);
  const states = new Map<string, SlotState>();
  const windows: OpenWindow[] = [];
  const billed: Decimal[] = [];
  const covered: boolean[] = [];
  for (const { at, quantity } of moments) {
    const slots = slotsAt(at);
    const changes: Decimal[] = [];
    for (const [key, slot] of slots) {
      const state = states.get(key) ?? { window: null, ignored: null };
      states.set(key, state);
      if (state.window === null || at >= state.window.until) {
        const { ignored } = state;
        if (ignored !== null && at < ignored.until && isOfOneLength(ignored.config, slot.config))
          continue;
        const opened = openedBy(slot, cycleAt(at), state.window?.end ?? null, schedule, at);
        if (opened === null) {
          state.ignored = { config: slot.config, until: epochMs(cycleAt(at).end) };
          continue;
        }
        state.window = opened;
        windows.push(opened);
      }
      changes.push(use(state.window, quantity, at));
    }
    covered.push(changes.length > 0);
    billed.push(changes.length === 0 ? quantity : once(changes, quantity));
  }
  return {
    windows: windows.map(({ until: _, over: __, ...window }) => window),
    billed,
    covered,
  };
}

type OpenWindow = { -readonly [Key in keyof SlotWindow]: SlotWindow[Key] } & {
  /** `end` in milliseconds. */
  readonly until: number;
  /** Usage beyond the quota so far. */
  over: Decimal;
};

interface SlotState {
  /** The last window. */
  window: OpenWindow | null;
  /** The last quota that would outlast its cycle: it counts nothing until then, another one may (money 7.3). */
  ignored: { readonly config: QuotaConfig; readonly until: number } | null;
}

function openedBy(
  { key: slot, config, quota }: QuotaSlot,
  cycle: Period,
  covered_until: Instant | null,
  { customer_timezone: timezone }: BillingRhythm,
  at: number,
): OpenWindow | null {
  const period = openQuotaWindow(config, { cycle, covered_until, timezone }, isoText(at));
  if (period === null) return null;
  const { entitlement_id } = config;
  const until = epochMs(period.end);
  return {
    ...period,
    until,
    slot,
    entitlement_id,
    quota,
    used: ZERO,
    over: ZERO,
    exhausted_at: null,
  };
}

/** Counts usage in a window; the change of what is beyond the quota. */
function use(window: OpenWindow, quantity: Decimal, at: number): Decimal {
  const before = window.over;
  window.used = window.used.plus(quantity);
  if (window.exhausted_at === null && quotaStatus(window.quota, window.used) === 'exhausted')
    window.exhausted_at = isoText(at);
  window.over = quotaOverage([{ quota: window.quota, usage: window.used }]);
  return window.over.minus(before);
}

const once = (changes: readonly Decimal[], quantity: Decimal): Decimal =>
  quantity.gte(0) ? Decimal.max(...changes) : Decimal.min(...changes);

/** The slots in force at an instant, by the key of their windows. Call it with ascending instants. */
function slotsInForce(
  grants: readonly QuotaGrant[],
): (at: number) => ReadonlyMap<string, QuotaSlot> {
  const dated = grants.map(({ config, start_date, end_date }) => ({
    config,
    from: start_date === null ? -Infinity : epochMs(start_date),
    until: end_date === null ? Infinity : epochMs(end_date),
  }));
  const cuts = [...new Set(dated.flatMap(({ from, until }) => [from, until]))].sort(
    (left, right) => left - right,
  );
  let known: ReadonlyMap<string, QuotaSlot> = new Map();
  let next = -Infinity;
  return (at) => {
    if (at < next) return known;
    next = cuts.find((cut) => cut > at) ?? Infinity;
    known = keyed(
      dated.filter(({ from, until }) => at >= from && at < until).map(({ config }) => config),
    );
    return known;
  };
}

/** The slots by their keys; several sources of one entitlement, such as two associations of an addon, add up. */
function keyed(configs: readonly QuotaConfig[]): ReadonlyMap<string, QuotaSlot> {
  const merged = new Map<string, QuotaConfig>();
  for (const config of configs) {
    const known = merged.get(config.entitlement_id);
    const grant_quota = config.grant_quota.plus(known?.grant_quota ?? ZERO);
    merged.set(config.entitlement_id, { ...config, grant_quota });
  }
  return new Map(quotaSlots([...merged.values()]).map((slot) => [slot.key, slot]));
}

/** The rhythm of the cycles, and the one that pauses made longer, if the usage is in it (billing 12.4). */
export interface QuotaRhythm extends BillingRhythm {
  readonly longer_period?: Period | null;
}

/** The uncut billing period of the subscription that contains an instant. */
function cycleFinder(schedule: QuotaRhythm): (at: number) => Period {
  const grid = billingGrid(schedule);
  const longer = schedule.longer_period ?? null;
  let known =
    longer === null
      ? { from: Infinity, until: -Infinity, period: { start: '', end: '' } }
      : { from: epochMs(longer.start), until: epochMs(longer.end), period: longer };
  return (at) => {
    if (at >= known.from && at < known.until) return known.period;
    const k = grid.indexAtMs(at);
    const [from, until] = [grid.boundaryMs(k), grid.boundaryMs(k + 1)];
    known = { from, until, period: { start: isoText(from), end: isoText(until) } };
    return known.period;
  };
}

/** The cycle of a subscription in which windows are opened: windows never cross its ends (money 7.7). */
export const quotaCycle = (schedule: QuotaRhythm, at: Instant): Period =>
  cycleFinder(schedule)(epochMs(at));

/** A slot at an instant: with its open window, or ready to open one with the next usage. */
export interface QuotaState {
  readonly entitlement_id: string;
  readonly quota: Decimal;
  readonly used: Decimal;
  /** Never below 0. */
  readonly left: Decimal;
  readonly status: 'active' | 'exhausted';
  /** Null before the first usage and after the end of the last window. */
  readonly window: QuotaWindow | null;
}

/** The slots in force at an instant, after the usage up to then. */
export function quotaStates(
  grants: readonly QuotaGrant[],
  { windows }: Pick<QuotaUsage, 'windows'>,
  at: Instant,
): QuotaState[] {
  const slots = [...slotsInForce(grants)(epochMs(at))];
  return slots.map(([key, { config, quota: next }]): QuotaState => {
    const window =
      windows.findLast(({ slot, start, end }) => slot === key && start <= at && at < end) ?? null;
    const quota = window?.quota ?? next;
    const used = window?.used ?? ZERO;
    return {
      entitlement_id: window?.entitlement_id ?? config.entitlement_id,
      quota,
      used,
      left: Decimal.max(quota.minus(used), ZERO),
      status: quotaStatus(quota, used),
      window,
    };
  });
}

/** A line of a meter with its usage by time, from the start of the cycle that contains its service. */
export interface QuotaLine {
  readonly line_id: string;
  /** Lines with the same filters are one stream: usage that two of them read counts once. */
  readonly stream: string;
  readonly service: Period;
  readonly moments: readonly QuotaMoment[];
  /** The window of the price that contains an instant; null without windows. */
  readonly windowOf: (at: number) => string | null;
}

/** The billed part of each line: all lines of a meter use its quotas in the order of time, then of line ids. */
export function shareQuotas(
  grants: readonly QuotaGrant[],
  schedule: QuotaRhythm,
  lines: readonly QuotaLine[],
): ReadonlyMap<string, QuotaShare> {
  const claims = claimsOf(lines);
  const { windows, billed, covered } = quotaUsage(grants, schedule, claims);
  return new Map(
    lines.map((line) => {
      const [from, until] = [epochMs(line.service.start), epochMs(line.service.end)];
      const own = claims.flatMap((claim, index) =>
        claim.line === line && claim.at >= from && claim.at < until ? [index] : [],
      );
      const byWindow = new Map<string | null, Decimal>();
      for (const index of own) {
        const window = line.windowOf(claims[index]!.at);
        byWindow.set(window, (byWindow.get(window) ?? ZERO).plus(billed[index]!));
      }
      const share: QuotaShare = {
        windows: windows.filter(
          ({ start, end }) => start < line.service.end && end > line.service.start,
        ),
        billed: byWindow,
        outside: sum(own.filter((index) => !covered[index]).map((index) => billed[index]!)),
      };
      return [line.line_id, share] as const;
    }),
  );
}

interface Claim extends QuotaMoment {
  readonly line: QuotaLine;
}

/** The usage of all lines in the order of time; earlier usage of a stream is counted for its first line only. */
function claimsOf(lines: readonly QuotaLine[]): readonly Claim[] {
  const ordered = lines.toSorted(
    (left, right) =>
      epochMs(left.service.start) - epochMs(right.service.start) ||
      (left.line_id < right.line_id ? -1 : 1),
  );
  const readUntil = new Map<string, number>();
  const claims = ordered.flatMap((line): Claim[] => {
    const [start, end] = [epochMs(line.service.start), epochMs(line.service.end)];
    const from = Math.min(readUntil.get(line.stream) ?? -Infinity, start);
    readUntil.set(line.stream, Math.max(readUntil.get(line.stream) ?? -Infinity, end));
    return line.moments.filter(({ at }) => at >= from).map((moment) => ({ ...moment, line }));
  });
  return claims.sort((left, right) => left.at - right.at);
}
