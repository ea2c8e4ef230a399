import { DateTime, IANAZone } from 'luxon';

/** Everything here asks luxon and nothing of ours: the second opinion of the property tests. */

/** Every zone that the runtime knows; luxon and Temporal read the same tz database by different code. */
export const ALL_ZONES: readonly string[] = Intl.supportedValuesOf('timeZone');

const zones = new Map<string, IANAZone>();
function zoneNamed(name: string): IANAZone {
  const zone = zones.get(name) ?? IANAZone.create(name);
  zones.set(name, zone);
  return zone;
}

/** Local clock minus UTC, in milliseconds. */
export function luxonOffset(name: string, ms: number): number {
  return zoneNamed(name).offset(ms) * 60_000;
}

/**
 * The instant of a clock time by the "compatible" rule, found by asking which instants show it: the
 * first that does, else (a gap) the one that shows it moved by the change of offset.
 */
export function luxonInstant(name: string, local: number): number {
  const day = 86_400_000;
  const offsets = [luxonOffset(name, local - day), luxonOffset(name, local + day)];
  const showing = offsets
    .map((offset) => local - offset)
    .filter((ms) => ms + luxonOffset(name, ms) === local);
  if (showing.length > 0) return Math.min(...showing);
  const gap = offsets[1]! - offsets[0]!;
  const moved = local + gap - offsets[1]!;
  if (moved + luxonOffset(name, moved) !== local + gap) throw new Error(`no instant for ${local}`);
  return moved;
}

/** The clock time `count` units after another, with luxon's calendar. */
export function luxonAdd(local: number, unit: 'months' | 'days', count: number): number {
  return DateTime.fromMillis(local, { zone: 'utc' })
    .plus({ [unit]: count })
    .toMillis();
}

export function luxonLocal(name: string, ms: number): DateTime {
  return DateTime.fromMillis(ms, { zone: zoneNamed(name) });
}
