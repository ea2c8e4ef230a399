import { timezone } from '../../../schemas/timezone.ts';
import { zoneOf } from '../../../domain/time/zone.ts';

const at = (text: string) => Date.parse(text);
const local = (text: string) => Date.parse(`${text}Z`);

describe('names', () => {
  test.each<[string, string]>([
    ['UTC', 'UTC'],
    ['utc', 'UTC'],
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['Asia/Kathmandu', 'Asia/Kathmandu'],
    ['America/Argentina/Buenos_Aires', 'America/Argentina/Buenos_Aires'],
    ['Etc/GMT+5', 'Etc/GMT+5'],
  ])('%j is %s', (name, canonical) => expect(timezone.parse(name)).toBe(canonical));

  test.each([
    'Not/A_Real_Zone',
    'Invalid/Timezone',
    '+05:30',
    '-08',
    'Z[UTC]',
    'Europe',
    '5',
    'a b',
    '2026-01-01T00:00Z',
    '00:00[UTC]',
    'T00:00Z',
  ])('%j is refused', (name) => {
    expect(timezone.safeParse(name).success).toBe(false);
    expect(() => zoneOf(name)).toThrow('unknown time zone');
  });

  test('a zone is made once', () => {
    expect(zoneOf('europe/berlin')).toBe(zoneOf('Europe/Berlin'));
    expect(zoneOf('')).toBe(zoneOf('UTC'));
    expect(zoneOf('').name).toBe('UTC');
  });
});

describe('what the clock shows', () => {
  test.each<[string, string, string]>([
    ['UTC', '2026-06-01T12:00:00Z', '2026-06-01T12:00'],
    ['Asia/Kolkata', '2026-06-01T12:00:00Z', '2026-06-01T17:30'],
    ['Asia/Kathmandu', '2026-06-01T12:00:00Z', '2026-06-01T17:45'],
    ['America/New_York', '2026-01-01T00:00:00Z', '2025-12-31T19:00'],
    ['America/New_York', '2026-03-08T06:59:59.999Z', '2026-03-08T01:59:59.999'],
    ['America/New_York', '2026-03-08T07:00:00Z', '2026-03-08T03:00'],
    ['America/New_York', '2026-11-01T05:59:59.999Z', '2026-11-01T01:59:59.999'],
    ['America/New_York', '2026-11-01T06:00:00Z', '2026-11-01T01:00'],
    ['Australia/Lord_Howe', '2026-04-04T14:59:59.999Z', '2026-04-05T01:59:59.999'],
    ['Australia/Lord_Howe', '2026-04-04T15:00:00Z', '2026-04-05T01:30'],
    ['Pacific/Apia', '2011-12-30T09:59:59.999Z', '2011-12-29T23:59:59.999'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31T00:00'],
    ['Europe/London', '1970-01-01T00:00:00Z', '1970-01-01T01:00'],
    ['Asia/Kolkata', '2199-06-01T12:00:00Z', '2199-06-01T17:30'],
  ])('%s at %s: %s', (name, instant, shown) => {
    expect(zoneOf(name).toLocal(at(instant))).toBe(local(shown));
    expect(zoneOf(name).offsetAt(at(instant))).toBe(local(shown) - at(instant));
  });
});

describe('the instant of a clock time', () => {
  test.each<[string, string, string, string]>([
    ['plain', 'Asia/Kathmandu', '2026-06-01T17:45', '2026-06-01T12:00:00Z'],
    ['before a gap', 'America/New_York', '2026-03-08T01:59:59.999', '2026-03-08T06:59:59.999Z'],
    ['skipped: moves forward', 'America/New_York', '2026-03-08T02:00', '2026-03-08T07:00:00Z'],
    ['skipped: by the gap', 'America/New_York', '2026-03-08T02:30', '2026-03-08T07:30:00Z'],
    ['end of the gap', 'America/New_York', '2026-03-08T02:59:59.999', '2026-03-08T07:59:59.999Z'],
    ['after a gap', 'America/New_York', '2026-03-08T03:00', '2026-03-08T07:00:00Z'],
    [
      'before an overlap',
      'America/New_York',
      '2026-11-01T00:59:59.999',
      '2026-11-01T04:59:59.999Z',
    ],
    ['twice: the first', 'America/New_York', '2026-11-01T01:00', '2026-11-01T05:00:00Z'],
    ['twice: the first', 'America/New_York', '2026-11-01T01:59:59.999', '2026-11-01T05:59:59.999Z'],
    ['after an overlap', 'America/New_York', '2026-11-01T02:00', '2026-11-01T07:00:00Z'],
    ['half-hour gap', 'Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:45:00Z'],
    ['half-hour overlap', 'Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45:00Z'],
    ['midnight skipped', 'Africa/Cairo', '2026-04-24T00:00', '2026-04-23T22:00:00Z'],
    ['a whole day skipped', 'Pacific/Apia', '2011-12-30T10:00', '2011-12-30T20:00:00Z'],
    ['the day after it', 'Pacific/Apia', '2011-12-31T10:00', '2011-12-30T20:00:00Z'],
    ['three hours back', 'Antarctica/Casey', '2010-03-05T00:30', '2010-03-04T13:30:00Z'],
  ])('%s: %s %s', (_title, name, shown, instant) => {
    expect(zoneOf(name).toInstant(local(shown))).toBe(at(instant));
  });
});

describe('changes of offset', () => {
  const newYork = () => zoneOf('America/New_York');
  test('the latest in (after, upTo]', () => {
    const spring = at('2026-03-08T07:00:00Z');
    expect(newYork().changeWithin(at('2026-03-01T00:00:00Z'), at('2026-04-01T00:00:00Z'))).toBe(
      spring,
    );
    expect(newYork().changeWithin(spring - 1, spring)).toBe(spring);
    expect(newYork().changeWithin(spring, at('2026-04-01T00:00:00Z'))).toBeNull();
    expect(newYork().changeWithin(at('2026-03-01T00:00:00Z'), spring - 1)).toBeNull();
    expect(newYork().changeWithin(at('2026-01-01T00:00:00Z'), at('2026-12-31T00:00:00Z'))).toBe(
      at('2026-11-01T06:00:00Z'),
    );
  });

  test('over the boundaries of what is read at once', () => {
    let changes = 0;
    let upTo = at('2026-12-31T00:00:00Z');
    for (;;) {
      const change = newYork().changeWithin(at('1990-01-01T00:00:00Z'), upTo);
      if (change === null) break;
      changes += 1;
      upTo = change - 1;
    }
    expect(changes).toBe(2 * 37);
  });

  test('a zone without changes has none', () => {
    expect(
      zoneOf('UTC').changeWithin(at('1970-01-01T00:00:00Z'), at('2050-01-01T00:00:00Z')),
    ).toBeNull();
    expect(
      zoneOf('Asia/Kolkata').changeWithin(at('1970-01-01T00:00:00Z'), at('2050-01-01T00:00:00Z')),
    ).toBeNull();
  });
});
