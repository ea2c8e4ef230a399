import fc from 'fast-check';
import { DateTime } from 'luxon';
import { addMonths, civilDate, daysOfDate, startOfWeek } from '../../../domain/time/civil.ts';
import { epochMs, isoText } from '../../../domain/time/instant.ts';
import { zoneOf } from '../../../domain/time/zone.ts';
import { property } from '../../support/properties.ts';
import { ALL_ZONES, luxonAdd, luxonInstant, luxonOffset } from '../../support/second-calendar.ts';

const DAY = 86_400_000;
const from = (text: string) => Date.parse(text);
const instants = fc.integer({ min: from('1990-01-01'), max: from('2051-01-01') });
const anyInstant = fc.integer({ min: from('0001-01-01'), max: from('9990-01-01') });
const zones = fc.constantFrom(...ALL_ZONES);

describe('the calendar agrees with luxon', () => {
  property(
    'dates, weeks and months',
    fc.property(anyInstant, fc.integer({ min: -2_000, max: 2_000 }), (local, months) => {
      const other = DateTime.fromMillis(local, { zone: 'utc' });
      const days = Math.floor(local / DAY);
      const { year, month, day } = other;
      expect(civilDate(days)).toEqual({ year, month, day });
      expect(daysOfDate(year, month, day)).toBe(days);
      expect(startOfWeek(local)).toBe(other.startOf('week').toMillis());
      expect(addMonths(local, months)).toBe(luxonAdd(local, 'months', months));
    }),
    { quick: 500, deep: 40_000 },
  );

  property(
    'texts',
    fc.property(anyInstant, (ms) => {
      const text = DateTime.fromMillis(ms, { zone: 'utc' }).toISO()!;
      expect(isoText(ms)).toBe(text);
      expect(epochMs(text)).toBe(ms);
    }),
    { quick: 500, deep: 40_000 },
  );

  property(
    'offsets of every zone',
    fc.property(zones, instants, (name, ms) => {
      expect(zoneOf(name).offsetAt(ms)).toBe(luxonOffset(name, ms));
    }),
    { quick: 500, deep: 60_000 },
  );

  property(
    'instants of clock times near a change of the clock',
    fc.property(
      zones,
      instants,
      fc.integer({ min: -4 * 3_600, max: 4 * 3_600 }),
      (name, ms, near) => {
        const zone = zoneOf(name);
        const change = zone.changeWithin(ms - 400 * DAY, ms) ?? ms;
        const local = zone.toLocal(change) + near * 1_000;
        const found = zone.toInstant(local);
        expect(found).toBe(luxonInstant(name, local));
      },
    ),
    { quick: 500, deep: 60_000 },
  );
});

describe('changes of the clock', () => {
  property(
    'stand where luxon sees the offset change, and nowhere else',
    fc.property(zones, instants, fc.integer({ min: 1, max: 400 * DAY }), (name, upTo, length) => {
      const change = zoneOf(name).changeWithin(upTo - length, upTo);
      const last = luxonOffset(name, upTo);
      if (change === null) {
        expect(luxonOffset(name, upTo - length)).toBe(last);
      } else {
        expect(change > upTo - length && change <= upTo).toBe(true);
        expect(luxonOffset(name, change)).toBe(last);
        expect(luxonOffset(name, change - 1)).not.toBe(last);
      }
    }),
    { quick: 300, deep: 20_000 },
  );
});
