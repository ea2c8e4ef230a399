import { timeSteps, wholeSteps } from '../../web/ui/chart-steps.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

/** Labels of an axis stand no closer than the values that they are about. */
describe('distances between labels of a chart', () => {
  test.each([
    ['hours', ['2026-11-01T00:00:00Z', '2026-11-01T01:00:00Z'], 60],
    ['days', ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'], DAY],
    ['days, one of which has 23 hours', ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'], DAY],
    ['days with gaps', ['2026-11-01T00:00:00Z', '2026-11-05T00:00:00Z'], DAY],
    ['months', ['2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z'], 30 * DAY],
    ['a single time', ['2026-11-01T00:00:00Z'], 60],
  ])('%s', (_, times, shortest) => {
    expect(Math.min(...timeSteps(times))).toBe(shortest);
  });

  test('whole values have whole labels; a fraction leaves the choice to the chart', () => {
    const steps = wholeSteps(['1', null, '12345678901234567890'])!;
    expect(steps.slice(0, 6)).toEqual([1, 2, 5, 10, 20, 25]);
    expect(steps.every(Number.isInteger)).toBe(true);
    expect(wholeSteps(['1', '0.5'])).toBeNull();
  });
});
