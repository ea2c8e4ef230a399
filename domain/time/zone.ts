import assert from 'node:assert/strict';
import { Temporal } from 'temporal-polyfill';
import { DAY_MS, type LocalMs } from './civil.ts';

/** Clock of one IANA time zone. */
export interface Zone {
  /** The name as written in the tz database. */
  readonly name: string;
  /** Local clock minus UTC in milliseconds, at an instant. */
  offsetAt(ms: number): number;
  /** The local time at an instant. */
  toLocal(ms: number): LocalMs;
  /**
   * The instant at which the clock shows `local`. A skipped local time (spring forward) moves forward by
   * the gap. A repeated local time (fall back) is the earlier instant (billing 1.3).
   */
  toInstant(local: LocalMs): number;
  /** The latest change of offset in `(after, upTo]`; null when there is none. */
  changeWithin(after: number, upTo: number): number | null;
}

/**
 * The zone of a stored name; empty means UTC. An unknown name is a bug of the caller: client input goes
 * through `schemas/timezone.ts`.
 */
export function zoneOf(name: string): Zone {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const canonical = ianaName(name);
  assert(canonical !== null, `unknown time zone ${name}`);
  const zone = zones.get(canonical) ?? createZone(canonical);
  zones.set(canonical, zone);
  zones.set(name, zone);
  return zone;
}

/** A cache, not state: a zone is a pure function of its name. There are about 600 names. */
const zones = new Map<string, Zone>();

function ianaName(name: string): string | null {
  if (name === '') return 'UTC';
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return null;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return null;
  }
}

/** The offsets of four years: `offsets[i]` applies from `starts[i]` on. */
interface Block {
  readonly starts: readonly number[];
  readonly offsets: readonly number[];
}

const BLOCK_MS = 1_461 * DAY_MS;

/**
 * Offsets are read from Temporal once for each four years and zone, then looked up: a call to Temporal
 * costs 10 µs, and one page of invoices needs about 100,000 offsets.
 */
function createZone(name: string): Zone {
  const blocks = new Map<number, Block>();

  const blockOf = (ms: number): Block => {
    const number = Math.floor(ms / BLOCK_MS);
    let block = blocks.get(number);
    if (block === undefined) {
      block = readBlock(name, number * BLOCK_MS, (number + 1) * BLOCK_MS);
      blocks.set(number, block);
    }
    return block;
  };

  const offsetAt = (ms: number): number => {
    const { starts, offsets } = blockOf(ms);
    return offsets[lastAtOrBefore(starts, ms)]!;
  };

  return {
    name,
    offsetAt,
    toLocal: (ms) => ms + offsetAt(ms),
    toInstant(local) {
      // No zone changes twice within two days, so these are the offsets on both sides of any change.
      const before = offsetAt(local - DAY_MS);
      const after = offsetAt(local + DAY_MS);
      const earlier = local - Math.max(before, after);
      const isShown = offsetAt(earlier) === local - earlier;
      return isShown ? earlier : local - Math.min(before, after);
    },
    changeWithin(after, upTo) {
      for (let at = upTo; at > after;) {
        const { starts } = blockOf(at);
        for (let index = lastAtOrBefore(starts, at); index >= 0; index -= 1) {
          const start = starts[index]!;
          if (start <= after) return null;
          // The first entry is the start of four years; it need not be a change.
          if (offsetAt(start - 1) !== offsetAt(start)) return start;
        }
        at = starts[0]! - 1;
      }
      return null;
    },
  };
}

function readBlock(name: string, start: number, end: number): Block {
  let at = Temporal.Instant.fromEpochMilliseconds(start).toZonedDateTimeISO(name);
  const starts = [start];
  const offsets = [at.offsetNanoseconds / 1e6];
  for (;;) {
    const next = at.getTimeZoneTransition('next');
    if (next === null || next.epochMilliseconds >= end) return { starts, offsets };
    at = next;
    starts.push(at.epochMilliseconds);
    offsets.push(at.offsetNanoseconds / 1e6);
  }
}

/** The first entry is not after `ms`. */
function lastAtOrBefore(starts: readonly number[], ms: number): number {
  let index = starts.length - 1;
  while (starts[index]! > ms) index -= 1;
  return index;
}
