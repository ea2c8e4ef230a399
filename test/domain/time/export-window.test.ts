import { exportWindow } from '../../../domain/time/export-window.ts';
import { lastMonths } from '../../../domain/time/last-months.ts';
import { EXPORT_INTERVALS } from '../../../schemas/words.ts';

describe('windows that end by now', () => {
  test.each([
    ['hourly', '2026-11-21T12:34:56.789Z', '2026-11-21T11:00:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['hourly', '2026-11-21T12:00:00.000Z', '2026-11-21T11:00:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['15MIN', '2026-11-21T12:14:59.999Z', '2026-11-21T11:45:00.000Z', '2026-11-21T12:00:00.000Z'],
    ['30MIN', '2026-11-21T00:10:00.000Z', '2026-11-20T23:30:00.000Z', '2026-11-21T00:00:00.000Z'],
    ['daily', '2026-03-01T00:00:00.000Z', '2026-02-28T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
  ] as const)('%s at %s', (interval, at, start, end) => {
    expect(exportWindow(interval, at)).toEqual({ start, end });
  });

  test.each(EXPORT_INTERVALS)('%s: windows join without gap or overlap', (interval) => {
    let { start } = exportWindow(interval, '2026-11-21T12:34:56.789Z');
    for (let back = 0; back < 50; back += 1) {
      const before = exportWindow(interval, start);
      expect(before.end).toBe(start);
      start = before.start;
    }
  });

  test('months: whole ones in UTC, and the current one up to now', () => {
    expect(lastMonths('2026-03-15T10:00:00.000Z', 3)).toEqual([
      { start: '2026-01-01T00:00:00.000Z', end: '2026-02-01T00:00:00.000Z' },
      { start: '2026-02-01T00:00:00.000Z', end: '2026-03-01T00:00:00.000Z' },
      { start: '2026-03-01T00:00:00.000Z', end: '2026-03-15T10:00:00.000Z' },
    ]);
    expect(lastMonths('2026-01-31T23:59:59.999Z', 2)[0]).toEqual({
      start: '2025-12-01T00:00:00.000Z',
      end: '2026-01-01T00:00:00.000Z',
    });
  });
});
